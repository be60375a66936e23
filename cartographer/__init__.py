# SPDX-License-Identifier: BSD-3-Clause
"""An atlas of the PyTorch source: every operator, from its Python name to the kernel on the chip."""

__version__ = "0.1.0"
