# SPDX-License-Identifier: BSD-3-Clause
"""Figures drawn at build time: the hand, the section, treemaps, bands. The same input gives the same bytes."""
