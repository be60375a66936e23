# SPDX-License-Identifier: BSD-3-Clause
"""All registrations -> the dispatcher's tables, computed without running it."""
