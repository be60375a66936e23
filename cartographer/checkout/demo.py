# SPDX-License-Identifier: BSD-3-Clause
"""Makes the demo's PyTorch: a small repository of our own writing, from its scripted history, with real commits and tags."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from cartographer import resources
from cartographer.errors import CheckoutError

DEMO_TAG = "v0.3.0"


def make_demo_repository(target: Path, script: Path | None = None) -> Path:
    """Write the bare repository `target` from a history script (default: the shipped one); the same commit ids each time.

    Raises CheckoutError when git refuses.
    """
    folder = script or resources.folder("mini_torch")
    history = tomllib.loads((folder / "history.toml").read_text(encoding="utf-8"))
    stream = b"".join(_commits(history, folder))
    target.mkdir(parents=True, exist_ok=True)
    _git(target, b"", "init", "-q", "--bare", "--initial-branch=main", ".")
    _git(target, stream, "fast-import", "--quiet", "--done")
    return target


def kept_demo_repository(folder: Path) -> Path:
    """The repository in a folder of the cache, made when it is not there yet: whole or not at all, since two may do so at once."""
    source = resources.folder("mini_torch")
    digest = hashlib.sha256(b"".join(str(p.relative_to(source)).encode() + p.read_bytes() for p in sorted(source.rglob("*")) if p.is_file()))
    target = folder / f"mini_torch-{digest.hexdigest()[:8]}.git"
    if not target.is_dir():
        made = make_demo_repository(Path(tempfile.mkdtemp(prefix="new-", dir=folder)) / "mini_torch.git")
        with contextlib.suppress(OSError):  # another build was quicker
            made.rename(target)
        shutil.rmtree(made.parent, ignore_errors=True)
    return target


def _commits(history: dict[str, Any], folder: Path) -> list[bytes]:
    trees: dict[str, dict[str, bytes]] = {}
    tips: dict[str, int] = {}
    out: list[bytes] = []
    for number, step in enumerate(history["step"], 1):
        branch = step.get("branch", "main")
        tree = {} if step.get("root") else dict(trees[branch])
        if merged := step.get("merge"):
            prefix = f"{step['prefix']}/" if "prefix" in step else ""
            tree |= {prefix + path: data for path, data in trees[merged].items()}
        for old, new in step.get("move", {}).items():
            tree = {new + path[len(old):] if path.startswith(old + "/") else path: data for path, data in tree.items()}
        for path in step.get("remove", ()):
            del tree[path]
        if "folder" in step:
            tree |= _read(folder / step["folder"])
        parents = [tips[name] for name in (branch, merged) if name in tips]
        out.append(_commit(history["author"], step, branch, number, parents, tree))
        trees[branch], tips[branch] = tree, number
    return [*out, b"done\n"]


def _read(folder: Path) -> dict[str, bytes]:
    # Python files carry ".txt" there, so that neither linters nor the packaging of this project take them for its own.
    return {
        p.relative_to(folder).as_posix().removesuffix(".txt") if p.name.endswith(".py.txt") else p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*")) if p.is_file()
    }


def _commit(author: str, step: dict[str, Any], branch: str, number: int, parents: list[int], tree: dict[str, bytes]) -> bytes:
    when = f"{int(step['date'].timestamp())} +0000"
    message = step["message"].encode() + b"\n"
    lines = [f"commit refs/heads/{branch}\nmark :{number}\nauthor {author} {when}\ncommitter {author} {when}\n".encode()]
    lines.append(b"data %d\n%s" % (len(message), message))
    lines += [f"{word} :{mark}\n".encode() for word, mark in zip(("from", "merge"), parents, strict=False)]
    lines.append(b"deleteall\n")
    for path, data in sorted(tree.items()):
        lines.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    if tag := step.get("tag"):
        lines.append(f"tag {tag}\nfrom :{number}\ntagger {author} {when}\ndata {len(tag)}\n{tag}\n".encode())
    return b"".join(lines)


def _git(where: Path, stdin: bytes, *command: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        done = subprocess.run(["git", *command], cwd=where, input=stdin, capture_output=True, env=environment, check=False)
    except OSError as error:
        raise CheckoutError(f"git cannot be run: {error}", hint="install git and try again") from error
    if done.returncode:
        raise CheckoutError(f"git {command[0]} failed: {done.stderr.decode(errors='replace').strip()}", where=str(where))
