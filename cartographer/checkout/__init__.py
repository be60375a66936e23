# SPDX-License-Identifier: BSD-3-Clause
"""Opens a version, a path or a wheel as a readable `Tree`."""
