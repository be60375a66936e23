# SPDX-License-Identifier: BSD-3-Clause
"""Clumsy and hostile command lines: wrong words, wrong kinds of path, odd names, absurd numbers. Each failure is one clear error."""

from __future__ import annotations

import os
import re
import sqlite3

import pytest

from cartographer.cli import _run

LONG = "x" * 100_000
NAMES = [
    "", " ", "\t", "\n", "'", '"', "\\", "*", "?", "%", "_", "--", ";", "|", "$(x)", "`x`", "../../etc/passwd", "/", ".", "..", "...", "::", ":::", "a::", "::a", "aten::", "aten::.", ".Tensor",
    "aten::add.", "aten::add..Tensor", "add.Tensor.x", "ädd", "加", "🔥", "\u202eadd", "\ud800", "add\x1b[31m", "ADD", "add add", "add,mul", "0", "-1", "1e999", "None", "null", "add;DROP TABLE operator", "add' OR '1'='1",
    'add" OR "a', "NEAR(", "a AND", "a NOT b", "{add}", "col:add", "^add", "add*", "(add)", "add(", "add(Tensor self) -> Tensor", "_ZN", "_ZN9999999999a", "_Z" + "N" * 500, "<" * 500, "::" * 2_000, "a." * 2_000, "f" * 5_000,
    "BinaryOps.cpp:", "BinaryOps.cpp:0", "BinaryOps.cpp:-1", "BinaryOps.cpp:99999999999999999999", "BinaryOps.cpp:30:7", ":30", "a.cpp:b", "torch.", "torch..add", "F.", "nn.", "torch.ops.", "torch.ops.aten",
    "RuntimeError: ", "RuntimeError: \"\" not implemented for ''", "Register.cpp", "RegisterCPU_99999999999999999999.cpp", "A" * 300 + "Backward0",
]  # fmt: skip
# What stands in braces is a place of the test; the words, and the exit codes that are right.
USES = [
    ("frobnicate", {2}), ("wher add", {2}), ("--frobnicate", {2}), ("where", {2}), ("where add --backend", {2}), ("where add --backend NoSuch -a {atlas}", {2}), ("where add -b {empty} -a {atlas}", {2}),
    ("where add --json --json -a {atlas}", {0}), ("where add --frobnicate", {2}), ("where add -a {nowhere}", {1}), ("where add -a {file}", {1}), ("where add -a {folder}", {1}), ("where add -a {older}", {1}),
    ("where add -a {newer}", {1}), ("where add -a {unfinished}", {1}), ("where add -a {foreign}", {1}), ("where add -a {zero}", {1}), ("where add -a {cut}", {1}), ("where add -a {noise}", {1}), ("where add -a {tables}", {1}),
    ("where add -a {device}", {1}), ("where add -a {loop}", {1}), ("where add -a {nul}", {2}), ("where add -a {long}", {1}), ("where add -a {empty}", {1}), ("where add -a {atlas}/atlas.db/", {0, 1}), ("where add -a {unreadable}", {0, 1}),
    ("show", {2}), ("show add -a {cut}", {1}), ("show add -a {tables}", {1}), ("show add -a {odd}", {1}), ("where add -a {odd}", {0, 1}), ("export -a {odd}", {1}), ("search add -a {odd}", {0, 1}), ("coverage -a {odd}", {1}),
    ("search", {2}), ("search add --limit 0", {2}), ("search add --limit -1", {2}), ("search add --limit 99999999999999999999 -a {atlas}", {0, 2}), ("search add --limit 9223372036854775807 -a {atlas}", {0, 2}), ("search add -n many", {2}),
    ("search add --kind nothing", {2}), ("search add --kind kernel --kind kernel -a {atlas}", {0, 1}), ("search add -n 1000000 -a {atlas}", {0}),
    ("build --jobs 0 --demo --offline", {2}), ("build --jobs -3 --demo", {2}), ("build --jobs many", {2}), ("build --offline {empty}", {1, 2}), ("build --offline {nul}", {2}), ("build --offline {long}", {1, 2}),
    ("build --offline ../../etc", {1, 2}), ("build --offline -- --upload-pack=x", {1, 2}), ("build --offline v1.0.0^{{}}", {1, 2}), ("build --offline v1:2", {1, 2}), ("build --offline v2.6.0 --demo", {2}), ("build --demo --source {folder}", {2}),
    ("build --demo --out {file}", {1, 2}), ("build --demo --out {device}", {1, 2}), ("build --demo --out {file}/below", {1, 2}), ("build --demo --no-html --out /proc/x", {1}), ("build --demo --out {nul}", {2}), ("build --demo --no-html --out {long}", {1, 2}),
    ("build --source {folder} --out {new}", {1}), ("build --source {file} --out {new}", {1}), ("build --source {nowhere} --out {new}", {1}), ("build --source {device} --out {new}", {1}), ("build --source {loop} --out {new}", {1}),
    ("build --source {nul} --out {new}", {2}), ("build --source {empty} --out {new}", {1, 2}), ("build --source {atlas} --out {new}", {1}), ("build --source {wheel} --out {new}", {1}), ("build --source {folder} v1.0.0", {1, 2}),
    ("build --source {folder} --repo {folder}", {2}), ("build v1.0.0 --repo {folder} --out {new}", {1}), ("build v1.0.0 --repo {file} --out {new}", {1}), ("build v1.0.0 --repo {nowhere} --out {new}", {1}), ("build v1.0.0 --repo {empty} --out {new}", {1, 2}),
    ("build v1.0.0 --repo ext::sh --out {new}", {1}), ("build v1.0.0 --repo --upload-pack=x --out {new}", {1, 2}), ("build v1.0.0 --repo file:///nowhere --out {new}", {1}), ("build v1.0.0 --repo nosuch://host/x --out {new}", {1}),
    ("build --from tarball", {2}), ("build --history everything", {2}), ("build --source installed --python {nowhere} --out {new}", {1}), ("build --source installed --python {file} --out {new}", {1}), ("build --source installed --python {folder} --out {new}", {1}),
    ("build --python /bin/true --source installed --out {new}", {1}), ("build --python /bin/false --source installed --out {new}", {1}),
    ("diff", {2}), ("diff v1", {2}), ("diff {atlas} {nowhere} --repo {nowhere}", {1, 2}), ("diff {atlas} {folder}", {1, 2}), ("diff {atlas} {file}", {1, 2}), ("diff {atlas} {older}", {1, 2}), ("diff {atlas} {odd}", {0, 1, 2}), ("diff {odd} {atlas}", {0, 1, 2}), ("diff {atlas} {cut}", {1, 2}),
    ("diff {atlas} {atlas} --format pdf", {2}), ("diff {atlas} {atlas} --op {globs}", {0, 1, 2}), ("diff {atlas} {atlas} --op [", {0, 1, 2}), ("diff {atlas} {atlas} -o {folder}", {1, 2}), ("diff {atlas} {atlas} -o {nowhere}/x", {1, 2}),
    ("diff {atlas} {atlas} -o /dev/full", {1, 2}), ("diff {atlas} {atlas} --kind nosuch", {0, 1, 2}), ("diff {atlas} {atlas} --backend nosuch", {0, 1, 2}), ("diff {atlas} {atlas} --level worst", {2}), ("diff {empty} {empty}", {1, 2}), ("diff {nul} {atlas}", {2}),
    ("history", {2}), ("history add --repo {folder}", {1, 2}), ("history add --repo {file}", {1, 2}), ("history add --wheel {file}", {1, 2}), ("history add --wheel {folder}", {1, 2}), ("history add --source {folder}", {1, 2}),
    ("history add --since x --repo {nowhere}", {1, 2}), ("history {empty} --source {folder}", {1, 2}), ("history add --wheel {device}", {1, 2}),
    ("coverage -b NoSuch -a {atlas}", {2}), ("coverage -b {empty} -a {atlas}", {0, 1, 2}), ("coverage --csv --json -a {atlas}", {2}), ("coverage -b {long} -a {atlas}", {0, 1, 2}), ("coverage -a {cut}", {1}),
    ("strata nowhere -a {atlas}", {0, 1}), ("strata .. -a {atlas}", {0, 1}), ("strata / -a {atlas}", {0, 1}), ("strata {empty} -a {atlas}", {0, 1, 2}), ("strata {nul} -a {atlas}", {2}), ("strata a b c -a {atlas}", {0, 1, 2}), ("strata {long} -a {atlas}", {0, 1}),
    ("strata --lines --csv -a {atlas}", {0, 1, 2}), ("guide {nowhere}", {1}), ("guide --check {cut}", {1}), ("guide --check {odd}", {0, 1}), ("guide --places {empty} -a {atlas}", {0, 1, 2}), ("guide --places nosuch -a {atlas}", {0, 1, 2}),
    ("line pink", {2}), ("line blue -a {cut}", {1}), ("line blue -a {odd}", {0, 1}), ("verify {nowhere}", {1}), ("verify {atlas} --python {nowhere}", {1, 2}), ("verify {atlas} --python /bin/true", {1, 2}), ("verify {atlas} --python /bin/false", {1, 2}),
    ("verify {atlas} --python {folder}", {1, 2}), ("verify {atlas} --python {empty}", {1, 2}), ("verify {atlas} --python {nul}", {2}), ("verify {atlas} --python /bin/yes", {1, 2}),
    ("export {nowhere}", {1}), ("export {atlas} -o {folder}", {2}), ("export {atlas} -o {nowhere}/x/y", {1, 2}), ("export {atlas} -o /dev/full", {1}), ("export {atlas} -o {empty}", {1, 2}), ("export {atlas} -o {nul}", {2}), ("export {cut}", {1}),
    ("serve {nowhere}", {1}), ("serve {file}", {1}), ("serve {older}", {1}), ("serve --port 70000", {2}), ("serve --port -1", {2}), ("serve --port x", {2}), ("serve {nul}", {2}), ("serve {empty}", {1}), ("serve {cut}", {1}),
    ("list extra", {2}), ("list --frobnicate", {2}), ("list", {0, 1}), ("clean nothing", {1, 2}), ("clean ../..", {1, 2}), ("clean {folder} -y", {1, 2}), ("clean -n", {0}), ("completion tcsh", {2}), ("completion", {0, 1, 2}), ("--help extra", {0, 2}),
]  # fmt: skip


@pytest.fixture(scope="session")
def places(folder, tmp_path_factory):
    """All kinds of things that are no atlas, and atlases that are not well."""
    place = tmp_path_factory.mktemp("places")
    (place / "folder").mkdir()
    (place / "folder" / "kept.txt").write_text("kept")
    (place / "file").write_text("a file")
    (place / "loop").symlink_to(place / "loop")
    (place / "zero.db").write_bytes(b"")
    (place / "noise.db").write_bytes(bytes(range(256)) * 64)
    (place / "torch.whl").write_bytes(b"PK\5\6" + bytes(18))
    good = (folder / "atlas.db").read_bytes()
    (place / "cut.db").write_bytes(good[: len(good) // 2])
    sqlite3.connect(place / "foreign.db").executescript("CREATE TABLE a (b); INSERT INTO a VALUES (1);").connection.close()
    changes = {
        "older": "PRAGMA user_version = 1", "newer": "PRAGMA user_version = 99", "unfinished": "PRAGMA user_version = 0",
        "tables": "DROP TABLE operator", "odd": "UPDATE operator SET schema = x'00ff'; UPDATE step SET line = 'many', path = -1; UPDATE layer SET path = 99999; DELETE FROM meta WHERE key = 'version'",
    }  # fmt: skip
    for name, statements in changes.items():
        (place / f"{name}.db").write_bytes(good)
        connection = sqlite3.connect(place / f"{name}.db")
        connection.executescript(statements)
        connection.close()
    (place / "unreadable.db").write_bytes(good)
    (place / "unreadable.db").chmod(0)
    return {
        "atlas": folder, "nowhere": place / "nowhere", "folder": place / "folder", "file": place / "file", "loop": place / "loop", "device": "/dev/null", "nul": "a\0b", "long": LONG, "empty": "",
        "wheel": place / "torch.whl", "new": place / "new", "zero": place / "zero.db", "noise": place / "noise.db", "cut": place / "cut.db", "foreign": place / "foreign.db", "unreadable": place / "unreadable.db",
        "globs": "*a" * 2_000 + "b", **{name: place / f"{name}.db" for name in changes},
    }  # fmt: skip


@pytest.fixture
def run(capfd, quiet_cache, tmp_path, monkeypatch):
    """The command line in this process, in a folder of its own. Whatever is no clear error is raised and ends the test."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = _run([str(word) for word in words], debug=False)
        return code, *capfd.readouterr()

    return call


def assert_clear(code, out, errors):
    """One error: what, and for us where or what to do next; short, and harmless to a terminal."""
    assert "Traceback" not in errors
    assert len(re.findall(r"(?m)^(?:cartographer: )?[Ee]rror: ", errors)) == (1 if code and "stopped" not in errors else 0) or (code and not out + errors)
    assert len(errors) < 2_000, f"{len(errors)} characters"
    assert "\x1b" not in errors


@pytest.mark.parametrize(("use", "codes"), USES, ids=[use for use, _ in USES])
def test_uses_that_make_no_sense(run, places, use, codes):
    words = [word.format_map(places) for word in use.split(" ")]
    code, out, errors = run(*words)
    assert code in codes, errors
    if code:
        assert_clear(code, "", errors)
    assert (places["folder"] / "kept.txt").read_text() == "kept"
    assert places["file"].read_text() == "a file"
    assert "Traceback" not in out


def test_what_is_named_is_what_the_error_names(run, places):
    """Not the folder that it stands in, nor another kind of thing."""
    assert f"{places['older']}: this is a file, not the folder of an atlas" in run("serve", places["older"])[2]
    assert f"{places['zero']}: this file is empty" in run("where", "add", "-a", places["zero"])[2]
    assert f"{places['folder']}: not a git repository" in run("build", "--all-releases", "--repo", places["folder"])[2]
    assert "unpack it and name its folder" in run("build", "--source", places["file"], "--out", places["new"])[2]


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name[:30]) for name in NAMES])
def test_names_that_nobody_writes(run, folder, name):
    for words in (("where", "-a", folder, "--", name), ("show", "-a", folder, "--", name), ("search", "-a", folder, "--", name), ("where", "-a", folder, "--json", "--", name)):
        code, out, errors = run(*words)
        assert code in {0, 1, 2}
        if code:
            assert_clear(code, out, errors)


def test_nothing_is_left_behind(places):
    assert not places["new"].exists() or not any(places["new"].iterdir())
    assert os.listdir(places["folder"]) == ["kept.txt"]  # noqa: PTH208
