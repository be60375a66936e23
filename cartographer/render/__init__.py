# SPDX-License-Identifier: BSD-3-Clause
"""Atlas reader -> a folder of HTML."""
