# SPDX-License-Identifier: BSD-3-Clause
"""One file's bytes -> facts; pure: no disk, no git."""
