# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that only raise, told from those that raise now and then."""

import pytest

from cartographer.link.raising import only_raises
from cartographer.model.location import Language
from cartographer.scan.cpp import scan_cpp


@pytest.mark.parametrize(("body", "alone"), [
    ('TORCH_CHECK_NOT_IMPLEMENTED(false, "bring your own");', True),
    ('TORCH_CHECK(false, "no layout ", x.layout()); return at::empty({});', True),
    ('AT_ERROR("built without it");', True),
    ('TORCH_CHECK(x.dim() == 2, "two"); return at::mul(x, x);', False),
    ('if (x.dim() == 2) { TORCH_CHECK(false, "two"); } return at::mul(x, x);', False),
    ("return at::mul(x, x);", False),
    ('if (x.dim() == 2) { return x; }\nTORCH_CHECK(false, "two");', False),
    ("", False),
    ('\n#ifdef WITHOUT_IT\nTORCH_CHECK(false, "no");\n#endif\nreturn at::mul(x, x);', False),
])
def test_only_raises(body: str, alone: bool) -> None:
    (function,) = scan_cpp(f"namespace at {{ Tensor f(const Tensor& x) {{ {body} }} }}".encode(), Language.CPP).definitions
    assert only_raises(function) is alone
