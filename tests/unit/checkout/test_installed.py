# SPDX-License-Identifier: BSD-3-Clause
import sys
from pathlib import Path

import pytest

from cartographer.checkout.cache import Cache
from cartographer.checkout.directory import DirectoryTree
from cartographer.checkout.installed import open_installed
from cartographer.errors import CheckoutError

from .conftest import FILES, LIST, WHEEL_FILES, write


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site folder that comes first on the path of the running Python and of its children."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


@pytest.mark.parametrize("python", [None, Path(sys.executable)])
def test_an_installed_torch_is_not_imported(site: Path, cache: Cache, python: Path | None) -> None:
    write(site, {**WHEEL_FILES, "torch/__init__.py": b"raise SystemExit('imported')\n"})
    tree = open_installed(cache, python)
    assert tree.info.version == "9.1.0"
    assert tree.read(LIST) == FILES[LIST]
    assert "build/aten/src/ATen/ops/add_native.h" in {file.path for file in tree.files()}
    assert "torch" not in sys.modules


def test_a_development_install_leads_to_its_checkout(site: Path, cache: Cache) -> None:
    write(site, FILES)
    assert isinstance(open_installed(cache), DirectoryTree)


def test_no_torch_and_no_python(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(CheckoutError, match="not installed"):
        open_installed(cache)
    with pytest.raises(CheckoutError, match="does not run"):
        open_installed(cache, tmp_path / "no-python")
