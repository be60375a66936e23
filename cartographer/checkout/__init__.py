# SPDX-License-Identifier: BSD-3-Clause
"""A version string, a path or a wheel -> a readable `Tree`."""
