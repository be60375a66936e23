# SPDX-License-Identifier: BSD-3-Clause
"""Declarations -> what PyTorch's generators (torchgen, tools/autograd) would write from them, by rule."""
