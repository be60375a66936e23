# SPDX-License-Identifier: BSD-3-Clause
"""C++ tokens and macro expansion that remembers where each token came from."""
