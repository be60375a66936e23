# SPDX-License-Identifier: BSD-3-Clause
"""Writes an atlas to SQLite and reads it again; the only home of SQL."""
