# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest

from cartographer.checkout import pypi
from cartographer.checkout.cache import Cache
from cartographer.checkout.wheel import open_wheel
from cartographer.errors import CheckoutError, UnknownVersion
from cartographer.progress import SilentProgress

from .conftest import make_wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels is the only package index."""
    folder = tmp_path / "index"
    make_wheel(folder / "torch-9.1.0-py3-none-any.whl")
    for key in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.usefixtures("index")
def test_a_wheel_is_fetched_once(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pypi.find_wheel("v9.1.0", cache, SilentProgress())
    assert path == cache.root / "wheels" / "9.1.0" / "torch-9.1.0-py3-none-any.whl"
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert open_wheel(path, cache).info.version == "9.1.0"
    monkeypatch.setattr(pypi, "_pip", lambda *_, **__: pytest.fail("asked pip again"))
    assert pypi.find_wheel("9.1.0", cache, SilentProgress(), offline=True) == path


@pytest.mark.usefixtures("index")
def test_an_unknown_release_names_near_misses(cache: Cache) -> None:
    with pytest.raises(UnknownVersion, match=r"no wheel of torch 9.1.4") as caught:
        pypi.find_wheel("v9.1.4", cache, SilentProgress())
    assert "9.1.0" in (caught.value.hint or "")


def test_offline_and_not_kept(cache: Cache) -> None:
    with pytest.raises(CheckoutError, match="offline"):
        pypi.find_wheel("v9.1.0", cache, SilentProgress(), offline=True)


@pytest.mark.parametrize(("said", "message"), [
    ("ERROR: [Errno 28] No space left on device", "disk is full"),
    ("WARNING: Retrying\nERROR: HTTPSConnectionPool: Max retries exceeded", "--source FILE.whl"),
])
def test_other_failures_of_pip(cache: Cache, monkeypatch: pytest.MonkeyPatch, said: str, message: str) -> None:
    calls: list[int] = []
    monkeypatch.setattr(pypi, "_try", lambda *_: calls.append(1) or said)
    with pytest.raises(CheckoutError, match="pip could not bring the wheel") as caught:
        pypi.find_wheel("v9.1.0", cache, SilentProgress())
    assert message in (caught.value.hint or "")
    assert len(calls) == 1  # trying other platforms would not help


@pytest.mark.usefixtures("index")
def test_a_cache_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    progress = SilentProgress()
    path = pypi.find_wheel("9.1.0", Cache(tmp_path / "file" / "cache"), progress)
    assert path.is_file()
    assert str(path.parents[1]) in progress.notes[0]


def test_a_missing_pip_is_told(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'python: No module named pip' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(fake))
    with pytest.raises(CheckoutError, match="pip is not installed"):
        pypi.find_wheel("9.1.0", cache, SilentProgress())


def test_old_wheels_are_not_even_fetched(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypi, "_pip", lambda *_, **__: pytest.fail("asked pip"))
    with pytest.raises(CheckoutError, match=r"since 1\.12"):
        pypi.find_wheel("v1.7.0", cache, SilentProgress())
