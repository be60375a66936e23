# SPDX-License-Identifier: BSD-3-Clause
"""Atlas <-> SQLite; the only home of SQL."""
