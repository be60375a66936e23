# SPDX-License-Identifier: BSD-3-Clause
"""Operator names and function schemas: parse and print without loss.

The rules are those of torchgen/model.py (FunctionSchema, OperatorName) and of
aten/src/ATen/core/function_schema.h, which prints what `torch` shows.
"""
