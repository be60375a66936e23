# SPDX-License-Identifier: BSD-3-Clause
"""Operators and facts -> the chain from the dispatcher's entry to the code on the device."""
