# SPDX-License-Identifier: BSD-3-Clause
"""Reads PyTorch's operator lists: yaml bytes -> declarations."""
