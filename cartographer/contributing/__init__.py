# SPDX-License-Identifier: BSD-3-Clause
"""Reads what a contributor meets beside the code of an operator: suites of tests, other registries, and the commands of PyTorch's own instructions."""
