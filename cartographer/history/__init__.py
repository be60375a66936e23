# SPDX-License-Identifier: BSD-3-Clause
"""Dates every surviving line of a tree from its git history."""
