# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch's yaml files declare, one value a row, with the line it stands on."""

from __future__ import annotations

from dataclasses import dataclass
