# SPDX-License-Identifier: BSD-3-Clause
"""Tokenises C++ and expands macros, remembering where each token was written."""
