# SPDX-License-Identifier: BSD-3-Clause
"""Makes `python -m cartographer` the `cartographer` command."""

from cartographer.cli import main

main()
