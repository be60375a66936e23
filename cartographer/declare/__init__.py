# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's operator lists (yaml bytes) -> declarations."""
