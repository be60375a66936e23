# SPDX-License-Identifier: BSD-3-Clause
"""`python -m cartographer` is the `cartographer` command."""

from cartographer.cli import main

main()
