# SPDX-License-Identifier: BSD-3-Clause
"""The content of each kind of page as a frozen view: plain data, computed before any template runs."""
