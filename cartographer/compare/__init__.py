# SPDX-License-Identifier: BSD-3-Clause
"""Compares two operator lists: what changed between them, each change with its level and the reason."""
