# SPDX-License-Identifier: BSD-3-Clause
"""The data model: frozen value types (operators, facts, schemas, changes, dates) that every stage takes and returns; they do no work of their own."""
