# SPDX-License-Identifier: BSD-3-Clause
"""The guide: texts of our own in which every claim points into the pinned tree and is checked against the atlas."""
