# SPDX-License-Identifier: BSD-3-Clause
"""Figures drawn at build time as SVG: the section, treemaps, bands, lines that look drawn by hand. The same input gives the same bytes."""
