# SPDX-License-Identifier: BSD-3-Clause
"""Finds what `import torch` registers from Python.

PyTorch's Python registers operators in loops, through decorators of decorators and by asking the dispatcher what is
there already. So we follow the import as Python would and evaluate, over values of our own, the modules that
register something. Nothing of the analysed code is executed: unknown values stay unknown and flow on.
"""
