# SPDX-License-Identifier: BSD-3-Clause
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cartographer.checkout import archive, wheel_paths
from cartographer.checkout.archive import WheelArchive
from cartographer.checkout.blob_ids import blob_id
from cartographer.checkout.cache import Cache
from cartographer.checkout.wheel import open_wheel
from cartographer.errors import CartographerError, CheckoutError
from cartographer.model.source import Availability, SourceKind, is_carried
from cartographer.processes import beside

from .conftest import FILES, LIST, WHEEL_FILES, make_wheel


def test_paths_are_those_of_the_repository(wheel: Path, cache: Cache) -> None:
    tree = open_wheel(wheel, cache)
    assert [file.path for file in tree.files()] == sorted([
        LIST, "aten/src/ATen/templates/Functions.h", "aten/src/ATen/ScalarOps.h", "tools/autograd/derivatives.yaml", "c10/core/Thing.h",
        "torch/__init__.py", "torch/_C/_autograd.pyi", "torch/csrc/Exceptions.h", "torchgen/gen.py",
        "build/aten/src/ATen/Functions.h", "build/aten/src/ATen/CPUFunctions.h", "build/aten/src/ATen/CPUFunctions_inl.h",
        "build/aten/src/ATen/core/TensorBody.h", "build/aten/src/ATen/ops/add_native.h", "build/torch/_C/_nn.pyi", "build/torch/version.py",
    ])
    assert (tree.info.kind, tree.info.version, tree.info.tag) == (SourceKind.WHEEL, "9.1.0", "v9.1.0")
    assert tree.info.commit == "0123456789abcdef0123456789abcdef01234567"
    assert len(tree.generated()) == 7
    assert tree.read(LIST) == FILES[LIST]


def test_a_copy_of_the_process_reads_beside_us(tmp_path: Path, cache: Cache) -> None:
    large = {f"torchgen/part{n}.py": b"".join(b"%d\n" % (n * k * k) for k in range(20_000)) for n in range(30)}
    tree = open_wheel(make_wheel(tmp_path / "large.whl", WHEEL_FILES | large), cache)
    paths = [file.path for file in tree.files()]
    whole = dict(tree.read_many(paths))
    assert set(whole) == set(paths)
    theirs = beside(lambda: [dict(tree.read_many(paths)) for _ in range(5)])
    assert all(dict(tree.read_many(paths)) == whole for _ in range(5))
    assert all(found == whole for found in theirs.result())


def test_a_guard_around_a_header_is_taken_off(wheel: Path, cache: Cache) -> None:
    tree = open_wheel(wheel, cache)
    data = b"#pragma once\nint x;\n"
    assert tree.read("torch/csrc/Exceptions.h") == data
    assert {file.path: file.blob for file in tree.files()}["torch/csrc/Exceptions.h"] == blob_id(data)
    odd = b"#if !defined(TORCH_STABLE_ONLY)\nint x;\n#endif\n"
    assert wheel_paths.unwrapped("torch/include/a.h", odd) == odd


def test_what_is_not_shipped_is_not_said_to_be_absent(wheel: Path, cache: Cache) -> None:
    tree = open_wheel(wheel, cache)
    assert tree.availability("aten/src/ATen/native/BinaryOps.cpp") is Availability.NOT_SHIPPED
    assert tree.availability("torch/nowhere.py") is Availability.ABSENT
    with pytest.raises(CheckoutError, match="does not carry"):
        tree.read("aten/src/ATen/native/BinaryOps.cpp")
    with pytest.raises(CheckoutError, match="no such file"):
        tree.read("torch/nowhere.py")


def test_a_second_open_reads_no_member(wheel: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartographer.checkout.blob_ids._RACE", -10**12)
    first = open_wheel(wheel, cache).files()
    read: list[str] = []
    original = WheelArchive.read
    monkeypatch.setattr(WheelArchive, "read", lambda self, name: read.append(name) or original(self, name))
    assert open_wheel(wheel, cache).files() == first
    assert set(read) == {"torch/version.py", "torchgen/gen.py"}


def test_other_wheels_are_told(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(CheckoutError, match="no such wheel"):
        open_wheel(tmp_path / "none.whl", cache)
    with pytest.raises(CheckoutError, match=r"not a wheel of torch: looked for torch/version.py"):
        open_wheel(make_wheel(tmp_path / "a.whl", {"x.py": b""}), cache)
    old = {name: data for name, data in WHEEL_FILES.items() if not name.startswith("torchgen/")}
    with pytest.raises(CheckoutError, match="carries no operator list"):
        open_wheel(make_wheel(tmp_path / "b.whl", old), cache)


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil", "torch/../../evil", "torch\\..\\evil", "C:/evil", "a//b", "torch/./x"])
def test_names_that_leave_the_archive_are_refused(tmp_path: Path, cache: Cache, name: str) -> None:
    with pytest.raises(CheckoutError, match="not to be trusted"):
        open_wheel(make_wheel(tmp_path / "a.whl", {**WHEEL_FILES, name: b"x"}), cache)
    assert not (tmp_path.parent / "evil.py").exists()


def test_links_are_refused(tmp_path: Path, cache: Cache) -> None:
    path = make_wheel(tmp_path / "a.whl")
    with zipfile.ZipFile(path, "a") as out:
        info = zipfile.ZipInfo("torch/link.py")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(info, "/etc/passwd")
    with pytest.raises(CheckoutError, match="link"):
        open_wheel(path, cache)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(tmp_path: Path, cache: Cache) -> None:
    path = make_wheel(tmp_path / "a.whl")
    with zipfile.ZipFile(path, "a") as out:
        out.writestr("torch/__init__.py", b"other")
    with pytest.raises(CheckoutError, match="twice"):
        open_wheel(path, cache)


def test_bombs_are_refused(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_wheel(tmp_path / "a.whl", {**WHEEL_FILES, "torch/bomb.py": bytes(200_000)})
    monkeypatch.setattr(archive, "LARGEST_TEXT", 100_000)
    with pytest.raises(CheckoutError, match=r"bomb.py"):
        open_wheel(path, cache)
    monkeypatch.setattr(archive, "LARGEST_TEXT", 1 << 20)
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 150_000)
    with pytest.raises(CheckoutError, match="its texts"):
        open_wheel(path, cache)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 5)
    with pytest.raises(CheckoutError, match="members"):
        open_wheel(path, cache)


def test_a_member_that_lies_about_its_size_is_no_harm(tmp_path: Path, cache: Cache) -> None:
    path = make_wheel(tmp_path / "a.whl", {**WHEEL_FILES, "torch/bomb.py": bytes(3_000_000)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 3_000_000), struct.pack("<L", 10)))
    with pytest.raises(CheckoutError):
        open_wheel(path, cache)


def test_a_cut_wheel_is_told(tmp_path: Path, cache: Cache) -> None:
    path = make_wheel(tmp_path / "a.whl")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckoutError, match="not a readable wheel"):
        open_wheel(path, cache)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=12), st.floats(0.3, 1))
def test_damaged_wheels_never_crash(tmp_path: Path, changes: list[tuple[float, int]], kept: float) -> None:
    source = tmp_path / "source.whl"
    if not source.exists():
        make_wheel(source)
    data = bytearray(source.read_bytes())
    for place, value in changes:
        data[int(place * (len(data) - 1))] = value
    broken = tmp_path / "broken.whl"
    broken.write_bytes(data[: int(len(data) * kept)] if kept < 0.6 else data)
    try:
        tree = open_wheel(broken, Cache(tmp_path / "cache"))
        list(tree.read_many(file.path for file in tree.files()))
        tree.close()
    except CartographerError:
        pass


@given(st.text(max_size=60))
def test_every_name_has_a_safe_place_or_none(name: str) -> None:
    wheel_paths.repository_path(name)
    wheel_paths.made_by_build(name, {name}, b"")
    is_carried(name)


@given(st.binary(max_size=200))
def test_unwrapping_takes_anything(data: bytes) -> None:
    assert wheel_paths.unwrapped("torch/include/a.h", data) == data
    wrapped = b"#if !defined(TORCH_STABLE_ONLY) && x\n" + data + b"\n#else\n#error e\n#endif // x\n"
    wheel_paths.unwrapped("torch/include/a.h", wrapped)
