# SPDX-License-Identifier: BSD-3-Clause
"""What stands on each kind of page: one frozen view per kind, plain data, computed before any template runs."""
