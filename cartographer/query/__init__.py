# SPDX-License-Identifier: BSD-3-Clause
"""Atlas reader -> answers on the terminal and in JSON."""
