# SPDX-License-Identifier: BSD-3-Clause
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.checkout.versions import find_version, is_safe, read_version_py, release_of, version_of_commit


@pytest.mark.parametrize(("files", "folder", "version"), [
    ({"version.txt": "1.13.0a0\n"}, "pytorch-1.13.1", "1.13.1"),
    ({"version.txt": "2.6.0a0\n"}, "pytorch-v2.6.0", "2.6.0"),
    ({"version.txt": "2.6.0a0\n"}, "pytorch-1.13.1", "2.6.0a0"),
    ({"version.txt": "2.6.0a0\n", "debian/changelog": "pytorch (2.6.0+dfsg-7) unstable; urgency=medium\n"}, "x", "2.6.0"),
    ({"torch/version.py": "__version__ = '2.6.1+cpu'\n", "version.txt": "2.6.0a0"}, "pytorch-2.6.0", "2.6.1+cpu"),
    ({}, "torch-2.0.1", "2.0.1"),
    ({"version.txt": "garbage"}, "src", None),
])
def test_witnesses_of_a_version(files: dict[str, str], folder: str, version: str | None) -> None:
    assert find_version(files.get, folder) == version


def test_version_py_is_read_not_run() -> None:
    text = "from typing import Optional\n__version__: str = \"2.11.0\"\ncuda: Optional[str] = None\ngit_version = '" + "a" * 40 + "'\n"
    assert read_version_py(text) == ("2.11.0", "a" * 40)
    assert read_version_py("__version__ = open('x').read()\ngit_version = 'Unknown'") == (None, None)


def test_releases() -> None:
    assert [release_of(v) for v in ("2.6.0a0+git1234567", "2.6.0+cpu", "2.6.0", "x")] == ["2.6.0", "2.6.0", "2.6.0", "x"]
    assert version_of_commit("2.12.0a0\n", "abcdef1234", "main") == "2.12.0a0+gitabcdef1"
    assert version_of_commit(None, "abcdef1234", "main") == "main+gitabcdef1"


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "a//b", "a/.", "C:/a", "a\\b", "a\x00", "a\udcff"])
def test_unsafe_paths(path: str) -> None:
    assert not is_safe(path)


@given(st.text(max_size=30))
def test_a_safe_path_stays_inside(path: str) -> None:
    if is_safe(path):
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        path.encode()
