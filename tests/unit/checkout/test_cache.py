# SPDX-License-Identifier: BSD-3-Clause
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cartographer.checkout.cache import Cache, OwnPart, default_root, write_whole
from cartographer.errors import CheckoutError
from cartographer.progress import SilentProgress

HOLD = "import sys, time; from pathlib import Path; from cartographer.checkout.cache import Cache\nwith Cache(Path(sys.argv[1])).lock('x'): print('held', flush=True); time.sleep(60)"


def holder(cache: Cache) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(cache.root)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    return child


def test_the_environment_names_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path / "here"))
    assert default_root() == tmp_path / "here"
    monkeypatch.delenv("CARTOGRAPHER_CACHE")
    assert default_root().name == "cartographer"


def test_write_and_read(cache: Cache) -> None:
    assert cache.read("a", "b") is None
    cache.write(b"1", "a", "b")
    cache.write(b"2", "a", "b")
    assert cache.read("a", "b") == b"2"
    assert [path.name for path in (cache.root / "a").iterdir()] == ["b"]


def test_what_was_changed_since_is_not_there(cache: Cache) -> None:
    cache.write(b"some names", "a", "b")
    path = cache.root / "a" / "b"
    for at in range(path.stat().st_size):
        data = bytearray(path.read_bytes())
        data[at] ^= 0x55
        path.write_bytes(data)
        assert cache.read("a", "b") is None
        data[at] ^= 0x55
        path.write_bytes(data)
    assert cache.read("a", "b") == b"some names"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners here")
@pytest.mark.parametrize("place", ["..", ".", "a", "a/b", "a/b/c"])
@pytest.mark.parametrize("change", ["everybody's", "a group's", "another's", "a link"])
def test_what_somebody_else_may_have_written_is_not_given_out(tmp_path: Path, place: str, change: str) -> None:
    (tmp_path / "above").mkdir()
    cache = Cache(tmp_path / "above" / "cache")
    own = OwnPart(cache)
    own.write(b"some names", "a", "b", "c")
    assert own.read("a", "b", "c") == b"some names"
    changed = cache.root / place
    if change == "another's":
        if os.getuid():
            pytest.skip("only root can give things away")
        os.chown(changed, 65534, 65534)
    elif change == "a link":
        if place in {"..", "."}:
            pytest.skip("a user's own cache may be a link")
        there = changed.rename(tmp_path / "elsewhere")
        changed.symlink_to(there)
    else:
        changed.chmod(0o777 if change == "everybody's" else 0o775)
    assert own.read("a", "b", "c") is None
    assert cache.read("a", "b", "c") == b"some names"
    own.write(b"others", "a", "b", "c")
    kept = place == "a/b/c"  # a file is put in the place of what stood there, if its folder is ours
    assert (own.read("a", "b", "c"), cache.read("a", "b", "c")) == ((b"others",) * 2 if kept else (None, b"some names"))


def test_a_folder_like_tmp_holds_what_is_own(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    own = OwnPart(Cache(tmp_path / "tmp" / "cache"))
    own.write(b"some names", "a", "b")
    (tmp_path / "link").symlink_to(tmp_path / "tmp" / "cache")
    assert own.read("a", "b") == OwnPart(Cache(tmp_path / "link")).read("a", "b") == (b"some names" if hasattr(os, "getuid") else None)


def test_what_cannot_be_kept_is_done_without(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "a").write_bytes(b"in the way")
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("a", "b"):
        OwnPart(cache).write(b"1", name, "c")
        assert OwnPart(cache).read(name, "c") is None


def test_entries_and_clean(cache: Cache) -> None:
    cache.write(b"12345", "facts", "one")
    cache.write(b"1234567", "wheels", "2.0", "torch.whl")
    with cache.lock("x"):
        pass
    assert [(e.kind, e.name, e.size) for e in cache.entries()] == [("facts", "one", 5 + 4), ("wheels", "2.0", 7 + 4)]  # a checksum each
    assert cache.clean(frozenset({"wheels"})) == 11
    assert cache.clean() == 9
    assert cache.entries() == ()
    assert Cache(cache.root / "never").entries() == ()


def test_two_at_once_wait_or_say_so(cache: Cache) -> None:
    child = holder(cache)
    try:
        progress = SilentProgress()
        with pytest.raises(CheckoutError, match=f"process {child.pid}"), cache.lock("x", progress, patience=0.3):
            pass
        assert f"process {child.pid}" in progress.notes[0]
        with cache.lock("y", patience=0):
            pass
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    with cache.lock("x", patience=5):  # the lock of a dead process is no lock
        pass


def test_what_a_build_uses_is_not_cleaned_away(cache: Cache) -> None:
    cache.write(b"1", "facts", "one")
    with cache.lock("facts-one"), pytest.raises(CheckoutError, match="using"):
        Cache(cache.root).clean()
    assert cache.read("facts", "one") == b"1"


@pytest.mark.parametrize("kinds", [None, frozenset({"facts"})])
def test_nothing_is_cleaned_away_while_anybody_works(cache: Cache, kinds: frozenset[str] | None) -> None:
    cache.write(b"1", "facts", "facts.db")
    with cache.in_use(), Cache(cache.root).in_use(), cache.lock("atlas-x"):
        with pytest.raises(CheckoutError, match="using"):
            Cache(cache.root).clean(kinds)
        assert cache.read("facts", "facts.db") == b"1"
    assert cache.clean(kinds) == 1 + 4


def test_who_comes_while_it_is_cleaned_waits(cache: Cache) -> None:
    progress = SilentProgress()
    child = subprocess.Popen([sys.executable, "-c", HOLD.replace("'x'", "'in-use'").replace("60", "0.5"), str(cache.root)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    with cache.in_use(progress):
        assert child.wait(10) == 0
    child.communicate()
    assert progress.notes == ["another cartographer works in this cache; waiting for it"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies here")
@pytest.mark.parametrize("held", ["in_use()", "lock('facts-one')"])
def test_copies_of_a_killed_process_hold_no_lock(cache: Cache, held: str) -> None:
    """Workers that wait for their tasks outlive the process that gave them some."""
    cache.write(b"1", "facts", "one")
    said = f"import os, sys, time; from pathlib import Path; from cartographer.checkout.cache import Cache\nwith Cache(Path(sys.argv[1])).{held}:\n    os.write(1, b'%d\\n' % os.fork()); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", said, str(cache.root)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    copy = max(int(child.stdout.readline()), int(child.stdout.readline()))
    with pytest.raises(CheckoutError, match="using"):
        cache.clean()
    child.send_signal(signal.SIGKILL)
    child.wait()
    try:
        assert cache.clean() == 1 + 4
    finally:
        os.kill(copy, signal.SIGKILL)
        child.communicate()


def test_a_cache_of_somebody_else_is_worked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Cache(tmp_path)
    with theirs.in_use():
        pass
    cache = Cache(tmp_path)
    monkeypatch.setattr(cache, "_writable", False)
    with cache.in_use(), pytest.raises(CheckoutError, match="using"):
        theirs.clean()
    (tmp_path / "file").write_text("in the way")
    with Cache(tmp_path / "file" / "cache").in_use():
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_there_are_no_locks_all_goes_on(cache: Cache, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    cache.write(b"1", "facts", "one")
    with cache.in_use(), cache.in_use():
        assert cache.clean() == 1 + 4


def test_an_error_inside_is_raised_as_it_is(cache: Cache) -> None:
    for works in (cache, Cache(cache.root / "locks" / "in-use.lock" / "below")):
        with pytest.raises(CheckoutError, match="mine") as caught, works.in_use():
            raise CheckoutError("mine")
        assert caught.value.__context__ is None


def test_a_child_that_survives_its_parent_keeps_the_lock(cache: Cache) -> None:
    with cache.lock("x") as lock:
        assert lock.fileno is not None
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=(lock.fileno,))
    try:
        with pytest.raises(CheckoutError), cache.lock("x", patience=0):
            pass
    finally:
        child.kill()
        child.wait()
    with cache.lock("x", patience=5):
        pass


def test_a_cache_that_cannot_be_written_to_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    assert not cache.writable
    cache.write(b"1", "a", "b")
    with cache.lock("x") as lock:
        assert lock.fileno is None
    assert cache.read("a", "b") is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").write_bytes(b"whole")

    def write_to_full(_path: Path, data: bytes) -> None:
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(data)

    monkeypatch.setattr(Path, "write_bytes", write_to_full)
    with pytest.raises(CheckoutError, match="the disk is full") as caught:
        write_whole(tmp_path / "old", b"new")
    assert "CARTOGRAPHER_CACHE" in (caught.value.hint or "")
    assert (tmp_path / "old").read_bytes() == b"whole"


def test_a_full_disk_is_not_taken_for_a_read_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(CheckoutError, match="full"):
        _ = Cache(tmp_path).writable


def test_waiting_ends_when_the_other_is_done(cache: Cache) -> None:
    child = holder(cache)
    started = time.monotonic()
    subprocess.Popen([sys.executable, "-c", f"import time, os; time.sleep(0.5); os.kill({child.pid}, 9)"]).wait()
    child.communicate()
    with cache.lock("x", patience=10):
        assert time.monotonic() - started < 10
