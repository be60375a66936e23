# SPDX-License-Identifier: BSD-3-Clause
"""Draws an atlas as a folder of HTML."""
