# SPDX-License-Identifier: BSD-3-Clause
"""What things are: values without behaviour of their own, shared by every stage."""
