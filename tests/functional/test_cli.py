# SPDX-License-Identifier: BSD-3-Clause
"""The command line as people and scripts meet it: output, exit codes, errors, colours, and how fast it starts."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "cartographer")


@pytest.fixture
def run(folder, tmp_path):
    """Run the command in an empty folder with an empty list of atlases; --atlas is added to look-ups."""

    def call(*words, atlas=True, environment=None, where=tmp_path, text=None):
        added = ("--atlas", str(folder)) if atlas else ()
        known = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "CARTOGRAPHER_CACHE"}}
        known |= {"CARTOGRAPHER_CACHE": str(tmp_path / "cache")} | (environment or {})
        return subprocess.run([*COMMAND, *words, *added], capture_output=True, text=True, cwd=where, env=known, timeout=60, input=text, check=False)

    return call


def test_where(run):
    done = run("where", "add.Tensor", "--backend", "CUDA")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "aten/src/ATen/native/cuda/AddKernel.cu:20  at::native::add_kernel"
    assert done.stderr == ""


def test_where_json(run):
    told = json.loads(run("where", "add.Tensor", "-b", "cuda", "--json").stdout)
    assert told["answers"][0]["main"]["line"] == 20
    assert told["backend"] == "CUDA"


def test_show_and_search(run):
    assert "AddBackward0" in run("show", "add.Tensor").stdout
    assert json.loads(run("show", "torch.add", "--json").stdout)["operators"][0]["name"] == "aten::add.Tensor"
    assert run("search", "add").stdout.splitlines()[0].startswith("operator   aten::add ")
    assert json.loads(run("search", "add", "--json", "-n", "2").stdout)[0]["kind"] == "operator"
    assert run("search", "nothingofthekind").returncode == 1
    assert [run("search", words).returncode for words in ("", "%_*?")] == [2, 2]


def test_not_found_names_near_misses(run):
    done = run("where", "sofmax")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "nothing in this atlas is called 'sofmax'" in done.stderr
    assert "did you mean aten::softmax" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", [("where",), ("where", "add", "--nonsense"), ("nonsense",), ("where", "add", "--backend", "TPU"), ("search", "x", "-n", "0"), ("serve", "--port", "x")]
)
def test_wrong_usage_is_2(run, words):
    done = run(*words, atlas=len(words) > 2 and words[0] != "serve")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_near_command(run):
    assert "did you mean where?" in run("wher", "add", atlas=False).stderr


def test_missing_atlas(run, tmp_path):
    done = run("where", "add", "--atlas", "nowhere", atlas=False)
    assert (done.returncode, "there is no such atlas" in done.stderr) == (1, True)
    done = run("where", "add", atlas=False)
    assert done.returncode == 1
    assert "there is no atlas yet" in done.stderr
    assert "build --demo" in done.stderr


def test_damaged_atlas(run, tmp_path):
    (tmp_path / "atlas.db").write_bytes(b"x" * 9000)
    done = run("where", "add", "--atlas", str(tmp_path), atlas=False)
    assert done.returncode == 1
    assert "atlas.db" in done.stderr
    assert "Traceback" not in done.stderr


def test_debug_keeps_the_traceback(run):
    assert "Traceback" in run("where", "sofmax", "--debug").stderr
    assert "Traceback" in run("--debug", "where", "sofmax").stderr


def test_newest_atlas_is_found(run, folder, tmp_path):
    for number, tag in enumerate(("v1.0.0", "v2.0.0", "v0.9.0")):
        (tmp_path / "atlas" / tag).mkdir(parents=True)
        target = tmp_path / "atlas" / tag / "atlas.db"
        target.write_bytes((folder / "atlas.db").read_bytes())
        os.utime(target, (1000 + number, 1000 + number))
    listed = json.loads(run("list", "--json", atlas=False).stdout)
    assert [a["path"].rpartition("/")[2] for a in listed] == ["v0.9.0", "v2.0.0", "v1.0.0"]
    assert run("where", "add", atlas=False).returncode == 0
    assert run("where", "add", "--atlas", "v1.0.0", atlas=False).returncode == 0
    assert run("where", "add", "--atlas", "2.0.0", atlas=False).returncode == 0
    asked = run("where", "add", "-a", "v1.0.0", atlas=False).stdout
    assert [run(*words, atlas=False).stdout for words in (("-a", "v1.0.0", "where", "add"), ("--atlas=v1.0.0", "where", "add"))] == [asked, asked]
    assert run("-a", "v1.0.0", atlas=False).returncode == 2
    assert "operators" in run("list", atlas=False).stdout


def test_which_of_several_atlases_answers(run, folder, tmp_path):
    """Who names none may think of another release."""
    for number, tag in enumerate(("v1.0.0", "v2.0.0")):
        (tmp_path / "atlas" / tag).mkdir(parents=True)
        target = tmp_path / "atlas" / tag / "atlas.db"
        target.write_bytes((folder / "atlas.db").read_bytes())
        os.utime(target, (1000 + number, 1000 + number))
    assert "the atlas of v2.0.0, built last; --atlas takes another: v1.0.0" in run("where", "sofmax", atlas=False).stderr
    assert "v1.0.0" not in run("where", "sofmax", "--atlas", "v2.0.0", atlas=False).stderr
    assert "there are v2.0.0, v1.0.0" in run("where", "add", "--atlas", "v3.0.0", atlas=False).stderr
    assert run("where", "add", atlas=False).stderr == "", "scripts are told nothing that they did not ask for"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "CARTOGRAPHER_CACHE": str(tmp_path / "cache")}
    subprocess.run([*COMMAND, "where", "add"], stdout=subprocess.DEVNULL, stderr=theirs, cwd=tmp_path, env=environment, timeout=60, check=True)
    os.close(theirs)
    assert "# the atlas of v2.0.0, built last (--atlas takes another: v1.0.0)" in os.read(ours, 1000).decode()
    os.close(ours)


def test_atlases_elsewhere_are_remembered(run, folder, tmp_path, monkeypatch):
    from cartographer.query import atlases

    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path / "cache"))
    atlases.remember(folder)
    atlases.remember(folder)
    assert run("where", "add", atlas=False).returncode == 0
    assert len(json.loads(run("list", "--json", atlas=False).stdout)) == 1


def test_list_of_none(run):
    done = run("list", atlas=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_export(run, folder, tmp_path):
    lines = run("export", str(folder), atlas=False).stdout.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["atlas", "op", "op", "op", "op", "op"]
    done = run("export", str(folder), "-o", str(tmp_path / "out.jsonl"), atlas=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.jsonl").read_text().splitlines() == lines
    assert run("export", str(folder), "-o", "/nowhere/out.jsonl", atlas=False).returncode == 1


@pytest.mark.parametrize("words", [("export", "{0}"), ("diff", "{0}", "{0}")])
def test_a_dash_is_standard_output(run, folder, tmp_path, words):
    asked = [word.format(folder) for word in words]
    done = run(*asked, "-o", "-", atlas=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*asked, atlas=False).stdout != ""
    assert not (tmp_path / "-").exists()
    assert run(*asked, "-o", "./-", atlas=False).stdout == ""
    assert (tmp_path / "-").read_text(encoding="utf-8").strip() == done.stdout.strip()


def test_broken_pipe_is_quiet(folder):
    reader, writer = os.pipe()
    running = subprocess.Popen([*COMMAND, "export", str(folder)], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    os.close(reader)
    _, errors = running.communicate(timeout=30)
    assert errors == ""
    assert running.returncode in {0, 1}


@pytest.mark.parametrize("words", [("export",), ("where", "add", "--atlas")])
def test_full_device(folder, words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *words, str(folder)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_exit_code_of_a_command_is_kept(monkeypatch):
    import click

    from cartographer import cli

    @click.command("three")
    def three_command():
        return 3

    monkeypatch.setattr(cli.Commands, "get_command", lambda *_: three_command)
    monkeypatch.setattr(cli, "COMMANDS", {"three": "nowhere"})
    assert cli._run(["three"], debug=False) == 3


def _on_terminal(words, **environment):
    """What the command writes to a terminal."""
    main, sub = pty.openpty()
    known = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment
    subprocess.run([*COMMAND, *words], stdout=sub, stderr=sub, env=known, timeout=60, check=False)
    os.close(sub)
    read = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        read += part
    os.close(main)
    return read


def test_colours(run, folder):
    words = ("where", "add", "--atlas", str(folder))
    assert b"\x1b[36m" in _on_terminal(words)
    assert b"\x1b" not in _on_terminal(words, NO_COLOR="1")
    assert b"\x1b" not in _on_terminal(words, TERM="dumb")
    assert "\x1b" not in run("where", "add").stdout


def test_control_c_is_one_line(folder, tmp_path):
    (tmp_path / "index.html").write_text("x")
    (tmp_path / "atlas.db").write_bytes((folder / "atlas.db").read_bytes())
    running = subprocess.Popen(
        [*COMMAND, "serve", str(tmp_path), "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here; a background job would ignore it, and what it starts too
    )
    assert running.stdout.readline().startswith("http://127.0.0.1:")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert errors == "cartographer: stopped\n"
    assert running.returncode == 130


def test_control_c_while_the_command_is_imported():
    early = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from cartographer.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", early], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "cartographer: stopped\n")


def test_help_fits_a_narrow_terminal():
    from click.testing import CliRunner

    from cartographer.cli import COMMANDS, commands

    for words in ([], *([command] for command in COMMANDS)):
        told = CliRunner(env={"COLUMNS": "40"}).invoke(commands, [*words, "--help"], terminal_width=40).stdout.splitlines()
        assert told
        assert [line for line in told if len(line) > 50] == [], "click writes no narrower"


def test_clean(run, tmp_path):
    facts = tmp_path / "cache" / "facts" / "one"
    facts.mkdir(parents=True)
    (facts / "x").write_bytes(b"x" * 1000)
    assert "facts/one" in run("clean", "--dry-run", atlas=False).stdout
    assert facts.exists()
    assert run("clean", atlas=False, text="n\n").returncode == 0
    assert facts.exists()
    assert run("clean", "nothing", atlas=False).returncode == 2
    assert run("clean", "--yes", atlas=False).returncode == 0
    assert not facts.exists()
    assert "nothing in" in run("clean", atlas=False).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell):
    assert f"{shell}_source" in run("completion", shell, atlas=False).stdout
    assert "cartographer" in run(atlas=False, environment={"_CARTOGRAPHER_COMPLETE": f"{shell}_source"}).stdout


def test_completion_of_operators(run, folder):
    answer = run(atlas=False, where=folder, environment={"_CARTOGRAPHER_COMPLETE": "bash_complete", "COMP_WORDS": "cartographer where soft", "COMP_CWORD": "2"})
    assert answer.stdout.split() == ["plain,softmax"]


def test_every_command_has_help(run):
    from cartographer.cli import COMMANDS

    overview = run("--help", atlas=False).stdout
    for name in COMMANDS:
        done = run(name, "--help", atlas=False)
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) > 5, name
        assert f"\n  {name} " in overview
    assert run("--version", atlas=False).stdout.startswith("cartographer, version ")


def test_build_refuses_what_makes_no_sense(run, tmp_path):
    for words in (("build",), ("build", "--demo", "v1.0.0"), ("build", "v1.0", "--all-releases"), ("build", "--from", "sdist", "v1")):
        assert run(*words, atlas=False).returncode == 2, words
    done = run("build", "--source", str(tmp_path / "nowhere"), atlas=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_look_ups_import_little(folder):
    """What a start pays for: none of the heavy libraries, none of the stages."""
    script = (
        "import sys; from cartographer.cli import _run;"
        f"_run(['where', 'add', '--atlas', {str(folder)!r}], debug=False);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stderr.split())
    heavy = {"rich", "jinja2", "networkx", "tree_sitter", "git", "yaml", "msgspec", "difflib", "http.server", "platformdirs", "asyncio", "multiprocessing"}
    assert not heavy & loaded
    stages = {"scan", "link", "dispatch", "declare", "codegen", "checkout", "render", "history", "expand", "pipeline", "compare"}
    assert not {f"cartographer.{stage}" for stage in stages} & loaded


def test_where_is_quick(run):
    """0.2 s on a quiet machine; processor time, as other tests run beside this one."""
    import resource

    best = 9.0
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run("where", "add").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        time.sleep(0.01)
    assert best < 0.3


def test_python(folder):
    from cartographer import Atlas, open_atlas

    with open_atlas(folder) as atlas:
        assert isinstance(atlas, Atlas)
        assert atlas.info.source.version == "2.6.0"
        assert [o.name for o in atlas.operator("torch.add")] == ["aten::add.Tensor"]
        assert atlas.where("add.Tensor", backend="CUDA").descents[0].main.line == 20
        assert atlas.search("add")[0].label == "aten::add"
        assert len(list(atlas.operators())) == 5
        assert len(list(atlas.export())) == 6


def test_hostile_names_do_not_steer_the_terminal(tmp_path):
    import dataclasses

    import sample_atlas

    from cartographer.store import writer

    hostile = dataclasses.replace(
        sample_atlas.operators()[0], name="aten::evil", schema="aten::evil\x1b]0;owned\x07\x1b[2J\u202e\x9b31m() -> ()", kernels={}, extra={"x": "\x1b[31mred"}
    )
    writer.write(dataclasses.replace(sample_atlas.atlas(), operators=(hostile,)), tmp_path)
    plain = subprocess.run([*COMMAND, "show", "evil", "--atlas", str(tmp_path)], capture_output=True, text=True, timeout=60, check=True).stdout
    shown = _on_terminal(("show", "evil", "--atlas", str(tmp_path))).decode()
    for text in (plain, shown):
        assert "]0;owned" in text
        for sign in ("\x1b]", "\x07", "\x1b[2J", "\u202e", "\x9b"):
            assert sign not in text
    exported = subprocess.run([*COMMAND, "export", str(tmp_path)], capture_output=True, text=True, timeout=60, check=True).stdout
    assert json.loads(exported.splitlines()[1])["schema"] == hostile.schema


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding(tmp_path, encoding):
    import dataclasses

    import sample_atlas

    from cartographer.store import writer

    operator = dataclasses.replace(sample_atlas.operators()[0], extra={"note": "größer → 大"})
    writer.write(dataclasses.replace(sample_atlas.atlas(), operators=(operator,)), tmp_path)
    done = subprocess.run(
        [*COMMAND, "show", "add", "--atlas", str(tmp_path)], capture_output=True, timeout=60, check=False, env=os.environ | {"PYTHONIOENCODING": encoding}
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert "größer → 大" in done.stdout.decode()  # a pipe is UTF-8 whatever the language of the machine
