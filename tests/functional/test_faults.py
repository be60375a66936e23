# SPDX-License-Identifier: BSD-3-Clause
"""Hard days: interrupted, killed and simultaneous builds, full disks, damaged caches. What existed before stays whole."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner
from jinja2.bccache import bc_magic

from cartographer.checkout.cache import ENVIRONMENT, Cache
from cartographer.checkout.demo import DEMO_TAG
from cartographer.checkout.open import SourceRequest
from cartographer.cli import commands
from cartographer.errors import CheckoutError, CompareError
from cartographer.pipeline.building import BuildRequest, build
from cartographer.progress import SilentProgress
from cartographer.query import export
from cartographer.store.reader import Reader

OLD, NEW = "v0.1.0", "v0.2.0"  # two small releases, built in a second


class Notes(SilentProgress):
    """Remembers what a build tells."""

    def __init__(self):
        self.said = []

    def note(self, text):
        self.said.append(text)


def site_of(folder):
    """Every file of a site but the database; what a build keeps for itself begins with a dot."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
        if path.is_file() and path.name != "atlas.db" and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }  # fmt: skip


def told(folder):
    with Reader(folder) as reader:
        return list(export.lines(reader))


@pytest.fixture(scope="module")
def built(mini_repo, tmp_path_factory):
    """Both releases as they should be: (folder, site, export) by tag, and the cache that they were built with."""
    place = tmp_path_factory.mktemp("reference")
    made = {}
    for tag in (OLD, NEW):
        out = place / tag / "atlas"  # apart: pages name the atlases that stand beside theirs
        build(BuildRequest(SourceRequest(version=tag, repo=str(mini_repo), cache=place / "cache"), out, workers=1))
        made[tag] = (out, site_of(out), told(out))
    return made, place / "cache"


@pytest.fixture
def old(built, tmp_path):
    """A folder with the older atlas."""
    return shutil.copytree(built[0][OLD][0], tmp_path / "atlas")


@pytest.fixture
def start(mini_repo, tmp_path):
    """Start a build of the newer release over the older one."""

    def call(out, *words, cache=tmp_path / "cache", jobs=1, tag=NEW, **options):
        command = [sys.executable, "-m", "cartographer", "build", tag, "--repo", str(mini_repo), "--out", str(out), "-j", str(jobs), *words]
        environment = {**os.environ, ENVIRONMENT: str(cache)}
        options = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options}  # a background job ignores it, and what it starts too
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True, **options)

    return call


def assert_whole(folder, built, allowed=(OLD, NEW)):
    """The folder is one of the two atlases, database and site; gives the tag."""
    lines = told(folder)
    tag = json.loads(lines[0])["tag"]
    assert tag in allowed
    _, site, exported = built[0][tag]
    assert lines == exported
    found = site_of(folder)
    assert sorted(set(found) ^ set(site)) == []
    assert [name for name in site if site[name] != found[name]] == []
    return tag


def leftovers(folder):
    """What builds made for a while: in an atlas, and beside it."""
    inside = [path.name for path in folder.iterdir() if path.name.startswith(".") and path.name not in {".pages.json", ".drawn-from"}]
    return inside + [path.name for path in folder.parent.iterdir() if path.name.startswith(".")]


@pytest.fixture(scope="module")
def seconds(mini_repo, built, tmp_path_factory):
    """How long such a build takes here."""
    place = tmp_path_factory.mktemp("timed")
    shutil.copytree(built[0][OLD][0], place / "atlas")
    begin = time.monotonic()
    command = [sys.executable, "-m", "cartographer", "build", NEW, "--repo", str(mini_repo), "--out", str(place / "atlas"), "-j", "1", "-q"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, ENVIRONMENT: str(place / "cache")}, timeout=120)
    assert_whole(place / "atlas", built, (NEW,))
    return time.monotonic() - begin


def test_killed_at_any_moment(built, old, start, seconds):
    chosen = random.Random(5)
    for _ in range(int(os.environ.get("CARTOGRAPHER_KILLS", "4"))):
        running = start(old, "-q")
        time.sleep(seconds * (0.4 + 0.65 * chosen.random()))
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=30)
        if assert_whole(old, built) == NEW:
            shutil.rmtree(old)
            shutil.copytree(built[0][OLD][0], old)
    running = start(old, "-q")
    assert running.communicate(timeout=120)[1] == ""
    assert assert_whole(old, built) == NEW
    assert leftovers(old) == []


KILLED_AT = """
import os, signal, sys
from cartographer.cli import main
left = int(sys.argv.pop(1))
STEPS = {"os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "ctypes.dlsym"}
done = 0
def hook(event, arguments):
    global done
    if event not in STEPS:
        return
    done += 1
    if done == left:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
try:
    main()
finally:
    print(done, file=sys.stderr)
"""


def test_killed_at_any_step_of_the_disk(built, old, mini_repo, tmp_path):
    """At a file that is moved, linked or removed, or a folder: the last steps are many and quick, no chosen moment meets them."""
    cache = shutil.copytree(built[1], tmp_path / "cache")

    def build_until(step):
        command = [sys.executable, "-c", KILLED_AT, str(step), "build", NEW, "--repo", str(mini_repo), "--out", str(old), "-j", "1", "-q"]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, ENVIRONMENT: str(cache)}, timeout=120, check=False)

    spare = shutil.copytree(old, tmp_path / "spare")
    last = int(build_until(0).stderr)
    assert assert_whole(old, built) == NEW
    assert last > len(built[0][NEW][1])  # every page is one at least
    chosen = random.Random(6)
    met = set()
    count = int(os.environ.get("CARTOGRAPHER_KILLS", "4")) * 2
    for step in [last, last - 2, *(chosen.randint(1, last - 3) for _ in range(count))]:
        shutil.rmtree(old)
        shutil.copytree(spare, old)
        assert build_until(step).returncode == -signal.SIGKILL
        met.add(assert_whole(old, built))
    assert met == {OLD, NEW}
    build_until(0)
    assert assert_whole(old, built) == NEW
    assert leftovers(old) == []


@pytest.mark.parametrize(("stage", "tag", "jobs"), [("scanning", DEMO_TAG, 2), ("drawing pages", NEW, 1)])
def test_control_c(built, old, start, stage, tag, jobs):
    """While several processes parse (the third release has files enough), and while pages are drawn."""
    running = start(old, jobs=jobs, tag=tag)
    for line in running.stderr:
        if stage in line:
            break
    os.killpg(running.pid, signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    if running.returncode == 0 or out:
        pytest.skip("the build was quicker than the signal")
    # CPython ends by the signal itself when it came while a module was made: shells call both 130.
    assert running.returncode in {130, -signal.SIGINT}
    assert errors.splitlines()[-1] == "cartographer: stopped"
    assert "Traceback" not in errors
    assert_whole(old, built)
    assert leftovers(old) == []


@pytest.mark.parametrize("limit", [4_000, 60_000])
def test_disk_full(built, old, start, limit):
    """No file may grow beyond the limit: first nothing can be kept, then the database is cut short."""
    running = start(old, "-q", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    _, errors = running.communicate(timeout=120)
    assert "Traceback" not in errors
    assert running.returncode == 1, errors
    assert len(errors.splitlines()) <= 3, errors
    assert_whole(old, built, (OLD,))
    assert leftovers(old) == []


def test_two_builds_at_once(built, old, start):
    both = [start(old, "-q"), start(old, "-q")]
    for running in both:
        _, errors = running.communicate(timeout=120)
        assert running.returncode == 0, errors
        assert "Traceback" not in errors
    assert assert_whole(old, built) == NEW
    assert leftovers(old) == []


@pytest.mark.parametrize(("words", "meanwhile"), [
    ("build v0.2.0 --repo {repo} --out {out} --no-html", "cartographer.pipeline.building.read_atlas"), ("build --demo --out {out} --no-html", "cartographer.checkout.demo.make_demo_repository"),
    ("build v0.1.0 v0.2.0 --repo {repo} --out {out} --no-html", "cartographer.pipeline.collection.refresh"), ("diff v0.1.0 v0.2.0 --repo {repo}", "cartographer.pipeline.keys.list_of_tree"),
    ("history add --repo {repo}", "cartographer.pipeline.releases.refs.is_release"),
])  # fmt: skip
def test_the_cache_is_not_emptied_meanwhile(words, meanwhile, mini_repo, tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    Cache().write(b"1", "facts", "one")
    monkeypatch.setattr(meanwhile, lambda *_, **__: Cache().clean())
    said = CliRunner().invoke(commands, [word.format(repo=mini_repo, out=tmp_path / "out") for word in words.split()], standalone_mode=False)
    assert isinstance(said.exception, CheckoutError | CompareError)
    assert "another cartographer is using this part of the cache" in str(said.exception)
    assert Cache().read("facts", "one") == b"1"
    assert Cache().clean() > 0


def test_a_cache_that_cannot_be_written_to(built, old, start):
    running = start(old, cache="/proc/cartographer")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0
    assert "cannot be written to" in errors
    assert assert_whole(old, built) == NEW


@pytest.mark.parametrize("damage", ["garbage", "cut", "bits"])
def test_a_damaged_cache(built, mini_repo, tmp_path, damage):
    """Every file of the cache is spoilt: the answer is the same, since nothing in it is trusted without a check."""
    cache = shutil.copytree(built[1], tmp_path / "cache")
    files = [path for path in cache.rglob("*") if path.is_file() and "repositories" not in path.parts]
    assert files
    chosen = random.Random(3)
    for path in files:
        data = bytearray(path.read_bytes())
        if damage == "garbage":
            data = bytearray(b"not what it was\n" * 40)
        elif damage == "cut":
            data = data[: len(data) // 2]
        else:
            for _ in range(1 + len(data) // 500):
                if len(data) > 100:
                    data[chosen.randrange(100, len(data))] ^= 0x55
        path.write_bytes(data)
    out = build(BuildRequest(SourceRequest(version=NEW, repo=str(mini_repo), cache=cache), tmp_path / "atlas", workers=1))
    assert assert_whole(out, built) == NEW


@pytest.mark.parametrize("kind", ["templates", "lineage", "lists", "missing"])
def test_what_cannot_be_kept_is_made_again(built, old, start, tmp_path, kind):
    """A file in the place of a folder, and folders in the place of files, as somebody else's would be: nothing can be written there."""
    cache = shutil.copytree(built[1], tmp_path / "cache", ignore=lambda *_: [kind])
    (cache / kind).write_bytes(b"in the way")
    assert start(old, "-q").communicate(timeout=120)[1] == ""
    assert assert_whole(old, built) == NEW
    (cache / kind).unlink()
    for path in [path for path in (built[1] / kind).rglob("*") if path.is_file()]:
        (cache / path.relative_to(built[1])).mkdir(parents=True)
    shutil.rmtree(old)
    assert start(old, "-q").communicate(timeout=120)[1] == ""
    assert assert_whole(old, built) == NEW


def test_templates_of_somebody_else_are_not_run(built, old, start, tmp_path):
    """Compiled, they are a program. Whoever could once write to the folder may have left his own there."""
    cache = shutil.copytree(built[1], tmp_path / "cache")
    marked = tmp_path / "was-run"
    program = bc_magic + f"cos\nsystem\n(S'touch {marked}'\ntR.".encode()
    for path in (cache / "templates").rglob("*/*"):
        path.write_bytes(zlib.crc32(program).to_bytes(4, "big") + program)
    (cache / "templates").chmod(0o777)
    assert start(old, "-q").communicate(timeout=120)[1] == ""
    assert not marked.exists()
    assert assert_whole(old, built) == NEW


def test_an_atlas_of_an_older_schema(built, old, start):
    with sqlite3.connect(old / "atlas.db") as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    asked = subprocess.run([sys.executable, "-m", "cartographer", "where", "relu", "--atlas", str(old)], capture_output=True, text=True, check=False, timeout=60)
    assert asked.returncode == 1
    assert "build" in asked.stderr
    assert "Traceback" not in asked.stderr
    running = start(old, "-q")
    assert running.communicate(timeout=120)[1] == ""
    assert assert_whole(old, built) == NEW


def test_a_page_that_was_cut_short_is_written_again(built, mini_repo, old):
    """A crash shortened pages, and what they were drawn from is not settled: notes alone are not believed."""
    for name in ("index.html", "operators/index.html"):
        (old / name).write_bytes((old / name).read_bytes()[:100])
    (old / ".drawn-from").unlink()
    build(BuildRequest(SourceRequest(version=OLD, repo=str(mini_repo), cache=built[1]), old, workers=1))
    assert assert_whole(old, built) == OLD


def test_a_repository_that_loses_its_remote(mini_repo, tmp_path):
    """What the clone in the cache holds is enough; what it lacks is said."""
    remote = shutil.copytree(mini_repo, tmp_path / "remote.git")
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", "-C", str(remote), "config", key, "true"], check=True)
    request = SourceRequest(version=NEW, url=remote.as_uri(), cache=tmp_path / "cache")
    build(BuildRequest(request, tmp_path / "one", workers=1, html=False))
    shutil.rmtree(remote)
    build(BuildRequest(request, tmp_path / "two", workers=1, html=False))
    assert told(tmp_path / "one") == told(tmp_path / "two")


def test_a_full_file_system(built, mini_repo, tmp_path):
    """A real one, too small for the site: the atlas that was there stays."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    script = 'mount -t tmpfs -o size=3M none "$0" || exit 99; cp -r "$1/." "$0"; dd if=/dev/zero of="$0/.filler" bs=1k count=3000 2>/dev/null; shift; "$@"; code=$?; rm "$0/.filler"; cp -r "$0/." "$0.after"; exit $code'
    words = (sys.executable, "-m", "cartographer", "build", NEW, "--repo", str(mini_repo), "--out", str(mounted), "-q", "-j", "1")
    environment = {**os.environ, ENVIRONMENT: str(tmp_path / "cache")}
    try:
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, str(mounted), str(built[0][OLD][0]), *words], capture_output=True, text=True, env=environment, timeout=120, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(r"disk is full|No space left", done.stderr)
    assert assert_whole(tmp_path / "small.after", built) == OLD


# --- odd surroundings


@pytest.fixture
def shell(built, tmp_path):
    """A line of shell with `c` as our command and `$atlas` as an atlas; no variables but PATH and those that are given."""

    def call(line, **variables):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(export.__file__).parents[2]), ENVIRONMENT: str(tmp_path / "cache"), "atlas": str(built[0][OLD][0]), **variables}
        script = f'c() {{ "{sys.executable}" -m cartographer "$@"; }}\n{line}'
        done = subprocess.run(["bash", "-c", script], capture_output=True, env={k: v for k, v in environment.items() if v is not None}, cwd=tmp_path, timeout=120, check=False)
        assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.mark.parametrize(("line", "code"), [
    ("c where relu -a $atlas >&-", 0), ("c where nosuchthing -a $atlas 2>&-", 1), ("c build --demo --out made -q <&- >&- 2>&- && test -s made/atlas.db && test -s made/index.html", 0),
    ("c export $atlas | head -n 1 >/dev/null", 0), ("c export $atlas | true", 0), ("c where relu -a $atlas >/dev/full", 1), ("mkdir gone && cd gone && rmdir ../gone && c where relu -a $atlas", 1),
    ("c list </dev/null", 0),
])  # fmt: skip
def test_streams_and_folders_that_are_not_there(shell, line, code):
    assert shell(line)[0] == code


@pytest.mark.parametrize("home", [None, "/dev/null"])
def test_no_home(shell, home):
    """Neither a cache nor a list of atlases can be kept; that is no reason to fail."""
    assert shell("c build --demo --no-html --out made -q && c where relu -a made", HOME=home, **{ENVIRONMENT: None})[0] == 0
    assert shell("c clean -n; c list", HOME=home, **{ENVIRONMENT: None})[0] == 0


@pytest.mark.parametrize("variables", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "tr_TR.ISO-8859-9", "PYTHONIOENCODING": "ascii", "COLUMNS": "1"}])
def test_other_languages(shell, variables):
    asked = "c show relu -a $atlas; c where 'é🔥' -a $atlas; [ $? = 1 ] && c build --demo --no-html --out 'ä 加' -q && c where relu -a 'ä 加'"
    code, out, errors = shell(asked, **variables)
    assert code == 0, errors
    assert "Vulkan" in out.decode() or "relu" in out.decode()
    assert "nothing in this atlas is called" in errors.decode(errors="replace")


def test_a_folder_whose_name_is_no_text(shell, tmp_path):
    """Bytes that are not UTF-8, as other systems leave them behind."""
    code, _, errors = shell("d=$(printf 'bad\\377 \\n') && c build --demo --no-html --out \"$d\" -q && c where relu -a \"$d\" && c build --demo --no-html --out \"$d\" -q && c list")
    assert code == 0, errors
    assert len([name for name in os.listdir(os.fsencode(tmp_path)) if name.startswith(b"bad\xff")]) == 1  # noqa: PTH208


def test_files_whose_names_are_no_text(mini_repo, tmp_path):
    """In a tree, and beside an atlas."""
    tree = tmp_path / "tree"
    tree.mkdir()
    subprocess.run(f"git -C {mini_repo} archive {NEW} | tar -x -C {tree}", shell=True, check=True)
    plain = build(BuildRequest(SourceRequest(source=str(tree), cache=tmp_path / "cache"), tmp_path / "plain", workers=1))
    with open(os.fsencode(tree / "aten/src/ATen/native") + b"/b\xe9.cpp", "wb") as file:  # noqa: PTH123
        file.write(b"int f() { return 1; }\n")
    out = tmp_path / "odd"
    out.mkdir()
    with open(os.fsencode(out) + b"/\xff.txt", "wb") as file:  # noqa: PTH123
        file.write(b"mine")
    build(BuildRequest(SourceRequest(source=str(tree), cache=tmp_path / "cache"), out, workers=1))
    assert told(out)[1:] == told(plain)[1:]
    assert os.path.exists(os.fsencode(out) + b"/\xff.txt")  # noqa: PTH110


FILES = ("notes.txt", "op/mine.html", ".hidden", "assets/mine.css", "atlas.db.bak")
FOLDERS = ("source/aten/mine/page.html", ".git/config", "new folder/deep/er.html")


@pytest.mark.parametrize("names", [FILES, FILES + FOLDERS], ids=["files", "folders"])
def test_what_is_not_ours_stays(built, old, start, mini_repo, names):
    """Files of others in the folder of an atlas, whatever is built over it, with pages and without."""
    foreign = dict.fromkeys(names, "mine")
    for name, text in foreign.items():
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).write_text(text)
    (old / "elsewhere").symlink_to(mini_repo)
    before = sorted(p.name for p in mini_repo.iterdir())
    for words in ((), ("--no-html",)):
        running = start(old, "-q", *words, tag=NEW if words == () else OLD)
        assert running.communicate(timeout=120)[1] == "" or running.returncode == 0
        assert {name: (old / name).read_text() for name in foreign} == foreign
        assert sorted(p.name for p in mini_repo.iterdir()) == before
    assert (old / "elsewhere").is_symlink()


def test_two_demos_at_once(tmp_path):
    """They share the repository in the cache, which neither may take away from the other."""
    environment = {**os.environ, ENVIRONMENT: str(tmp_path / "cache")}
    command = [sys.executable, "-m", "cartographer", "build", "--demo", "--no-html", "-q", "-j", "1", "--out"]
    both = [subprocess.Popen([*command, str(tmp_path / name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) for name in ("one", "two", "three")]
    for running in both:
        assert running.communicate(timeout=120)[1] == ""
        assert running.returncode == 0
    assert told(tmp_path / "one") == told(tmp_path / "two") == told(tmp_path / "three")
    assert [p.suffix for p in (tmp_path / "cache" / "demo").iterdir()] == [".git"]


def test_an_output_that_cannot_be_written_to(built, mini_repo, tmp_path):
    """A file system that is read-only: the atlas that is there stays, and can be read."""
    shutil.copytree(built[0][OLD][0], tmp_path / "atlas")
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 99; "$@"; code=$?; "$1" -m cartographer where relu -a "$0" >/dev/null || exit 98; exit $code'
    words = (sys.executable, "-m", "cartographer", "build", NEW, "--repo", str(mini_repo), "--out", str(tmp_path / "atlas"), "-q", "-j", "1")
    environment = {**os.environ, ENVIRONMENT: str(tmp_path / "cache")}
    try:
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, str(tmp_path / "atlas"), *words], capture_output=True, text=True, env=environment, timeout=120, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "--out" in done.stderr
    assert str(tmp_path / "atlas") in done.stderr
    assert assert_whole(tmp_path / "atlas", built) == OLD
