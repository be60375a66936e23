# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that only raise, told from those that raise now and then."""

import pytest

from cartographer.link.raising import note_of_error, only_raises
from cartographer.model.location import Language
from cartographer.model.operator import ONLY_RAISES, TO_OVERRIDE
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


@pytest.mark.parametrize(("body", "note"), [
    ('TORCH_CHECK_NOT_IMPLEMENTED(false, "f not implemented: please use TORCH_LIBRARY_IMPL to override this function ");', TO_OVERRIDE),
    ('AT_ERROR("f must be overridden by ", "the backend");', TO_OVERRIDE),
    (f'TORCH_CHECK(\n  false,\n  "{"long " * 40}",\n  "please override it");', TO_OVERRIDE),
    ('TORCH_CHECK(false, override_count(), " of f");', ONLY_RAISES),
    ('AT_ERROR("named dimensions are not implemented");', ONLY_RAISES),
])
def test_the_text_of_an_error_may_tell_a_backend_to_override_it(body: str, note: str) -> None:
    text = f"namespace at {{\nTensor f(const Tensor& x) {{\n  {body}\n}}\n}}"
    (function,) = scan_cpp(text.encode(), Language.CPP).definitions
    assert only_raises(function)
    assert note_of_error(function, lambda first, last: text.split("\n")[first - 1 : last]) == note
