# SPDX-License-Identifier: BSD-3-Clause
"""Answers questions from an atlas, as lines for a terminal and as JSON."""
