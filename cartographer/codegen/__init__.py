# SPDX-License-Identifier: BSD-3-Clause
"""Derives from the declarations what PyTorch's generators (torchgen, tools/autograd) would write, by the generators' own rules."""
