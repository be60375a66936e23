# SPDX-License-Identifier: BSD-3-Clause
"""Git history -> the date of every surviving line."""
