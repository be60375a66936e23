# SPDX-License-Identifier: BSD-3-Clause
"""Runs the stages in order: `building` makes an atlas, `releases` compares two PyTorches. The only place where stages meet."""
