# SPDX-License-Identifier: BSD-3-Clause
"""Makes `python -m cartographer` the `cartographer` command, and answers Ctrl-C from the first moment, while the command is still imported."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line and run it; leaves with its exit code."""
    try:
        from cartographer import cli

        cli.main()
    except KeyboardInterrupt:
        if "--debug" in sys.argv:
            raise
        sys.stderr.write("cartographer: stopped\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
