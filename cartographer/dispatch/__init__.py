# SPDX-License-Identifier: BSD-3-Clause
"""Computes the dispatcher's tables from all registrations, without running the dispatcher."""
