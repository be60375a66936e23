# SPDX-License-Identifier: BSD-3-Clause
"""Runs the git program: the only module that starts it, and the only home of GitPython.

A repository may belong to a stranger. Nothing in its configuration is allowed to run a program: git looks at no hooks,
no file-system monitor, no external diff, and may open no connection unless a fetch was asked for. Only objects are
read, never a working tree.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# What a user may set for the network; every other GIT_ variable is dropped (a hook of git's sets GIT_DIR, for one).
_KEPT = re.compile(r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|PROXY_COMMAND|ASKPASS|SSL_\w+|HTTP_\w+|EXEC_PATH|TRACE\w*|CURL_VERBOSE)")

_SETTINGS = (
    "safe.directory=*",  # nothing of the repository is run, so its owner does not matter
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=:",
    "core.pager=cat",
    "core.quotePath=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
)


def environment(*, network: bool, objects: Path | None = None) -> dict[str, str]:
    """The environment variables for git. Without `network`, no transport at all is allowed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or (network and _KEPT.fullmatch(k))}
    kept.update(
        LC_ALL="C", LANGUAGE="C", GIT_TERMINAL_PROMPT="0", GIT_NO_LAZY_FETCH="1", GIT_OPTIONAL_LOCKS="0",
        GIT_NO_REPLACE_OBJECTS="1", GIT_ATTR_NOSYSTEM="1", GIT_PAGER="cat",
        GIT_ALLOW_PROTOCOL="file:git:http:https:ssh" if network else "none",
    )
    if not network:  # the user's own settings (proxy, credentials) matter to a fetch only
        kept.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
    if objects is not None:
        kept.update(GIT_OBJECT_DIRECTORY=str(objects))
    return kept


class GitError(CheckoutError):
    """Raised when git ends with an error; `stderr` is what it printed."""

    def __init__(self, message: str, *, stderr: str, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, where=where, hint=hint)
        self.stderr = stderr


@dataclass(frozen=True, slots=True)
class Git:
    """Runs the git program on one repository."""

    git_dir: Path | None = None
    network: bool = False
    objects: Path | None = None  # objects from elsewhere than git_dir
    keep: tuple[int, ...] = ()  # files that children hold open: the lock of the store that they write to

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The whole command line, with the settings that keep git safe. Raises CheckoutError when git is not installed."""
        program = shutil.which("git")
        if program is None:
            raise CheckoutError("the git program is not installed", hint="install git, or use a wheel: --from wheel")
        where = [f"--git-dir={self.git_dir}"] if self.git_dir is not None else []
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return [program, "--no-pager", *settings, *where, *arguments]

    def run(self, *arguments: str, data: bytes = b"", timeout: float | None = None) -> bytes:
        """Run git to its end and return its output; raises GitError with git's own words when it fails."""
        try:
            done = subprocess.run(
                self.command(arguments), input=data, capture_output=True, check=False, timeout=timeout,
                env=environment(network=self.network, objects=self.objects), pass_fds=self.keep,
            )
        except subprocess.TimeoutExpired as late:
            said = (late.stderr or b"").decode("utf-8", "replace")
            raise failure(arguments, said or f"no answer within {timeout:.0f} s", self.git_dir) from late
        if done.returncode != 0:
            raise failure(arguments, done.stderr.decode("utf-8", "replace"), self.git_dir)
        return done.stdout

    def text(self, *arguments: str, data: bytes = b"") -> str:
        """Like `run`, but returns the output as text without the last line feed."""
        return self.run(*arguments, data=data).decode("utf-8", "replace").removesuffix("\n")

    def succeeds(self, *arguments: str) -> bool:
        """Whether a git command ends without an error; its output is not wanted."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git with pipes on its input and output, and its errors discarded."""
        return subprocess.Popen(
            self.command(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(network=self.network, objects=self.objects), pass_fds=self.keep,
            process_group=0,  # Ctrl-C is not for it: where its answers end too early, something would be taken for missing
        )

    def run_with_progress(self, arguments: Sequence[str], report: Callable[[str], None], data: bytes = b"") -> list[str]:
        """Run a command of the network and hand on each line of progress that it writes to standard error; gives the other lines."""
        with subprocess.Popen(
            self.command(arguments), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment(network=self.network, objects=self.objects), pass_fds=self.keep,
        ) as child:
            said: list[str] = []
            try:
                assert child.stdin is not None
                assert child.stderr is not None
                _feed(child.stdin, data)
                for line in _lines(child.stderr.fileno()):
                    if PROGRESS.match(line):
                        report(line)
                    else:
                        said.append(line)
            except BaseException:
                child.terminate()
                raise
        if child.returncode != 0:
            raise failure(arguments, "\n".join(said), self.git_dir)
        return said


# "Receiving objects:  45% (450/1000), 12.00 MiB | 3.00 MiB/s", also with "remote: " before it
PROGRESS = re.compile(r"(?:remote: )?(?P<what>[A-Z][A-Za-z ]+):\s+(?:(?P<percent>\d+)% \((?P<done>\d+)/(?P<total>\d+)\)|(?P<count>\d+))(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class FetchStep:
    """One report of git's progress: what it does, steps done, steps in all (0: unknown), and its remark on bytes and speed."""

    what: str
    done: int
    total: int
    remark: str


def progress_parser(report: Callable[[FetchStep], None]) -> Callable[[str], None]:
    """A parser of git's progress lines, through GitPython, which knows their forms."""
    from git import RemoteProgress

    names = {
        RemoteProgress.COUNTING: "counting", RemoteProgress.COMPRESSING: "compressing", RemoteProgress.RECEIVING: "receiving",
        RemoteProgress.RESOLVING: "resolving", RemoteProgress.WRITING: "writing", RemoteProgress.CHECKING_OUT: "checking out",
        RemoteProgress.FINDING_SOURCES: "finding",
    }

    class Reader(RemoteProgress):
        def update(self, op_code: int, cur_count: str | float, max_count: str | float | None = None, message: str = "") -> None:
            what = names.get(op_code & self.OP_MASK, "working")
            report(FetchStep(what, int(cur_count or 0), int(max_count or 0), message))

    reader = Reader().new_message_handler()

    def read(line: str) -> None:
        try:
            reader(line)
        except (ValueError, ArithmeticError, AttributeError, IndexError, TypeError):
            return  # a form of progress line that is not known is no reason to stop a fetch

    return read


def failure(arguments: Sequence[str], stderr: str, git_dir: Path | None) -> GitError:
    """One error with git's own words, and with the next step where it is known."""
    words = [line.strip() for line in stderr.splitlines() if line.strip() and not PROGRESS.match(line)]
    said = "; ".join(dict.fromkeys(words[-6:])) or "no message"
    verb = next((a for before, a in zip(("", *arguments), arguments, strict=False) if not a.startswith("-") and before not in {"-c", "-C"}), "command")
    return GitError(
        f"git {verb} failed: {said}",
        stderr=stderr, where=str(git_dir) if git_dir is not None else None, hint=_next_step(stderr),
    )


def _next_step(stderr: str) -> str | None:
    """What a user can do about the failures that are known."""
    if "No space left on device" in stderr or "Disk quota exceeded" in stderr:
        return "the disk is full: free some space, or let CARTOGRAPHER_CACHE name a folder on another disk"
    if re.search(r"missing|unable to read|bad object|could not fetch .* from promisor|lazy fetching disabled", stderr):
        return "the clone lacks objects (a partial or damaged clone): `git fetch --refetch --no-filter` brings them"
    if "not a git repository" in stderr:
        return "give the path of a clone (bare or not), or an unpacked tree with --source"
    return None


def find_git_dir(path: Path) -> Path | None:
    """The git directory of a clone, worktree or bare repository at `path`; None when there is none."""
    real = path.expanduser().absolute()
    if (real / ".git").exists():
        real = real / ".git"
    elif not (((real / "objects").is_dir() or (real / "commondir").is_file()) and (real / "HEAD").exists()):
        return None  # a worktree's own holds no objects: `commondir` names the folder that does
    if real.is_file():  # a worktree or a submodule: "gitdir: PATH"
        with real.open("rb") as handle:
            link = handle.read(4096).decode("utf-8", "surrogateescape")
        if not link.startswith("gitdir:"):
            return None
        target = Path(link.removeprefix("gitdir:").strip())
        real = target if target.is_absolute() else (real.parent / target).resolve()
    try:
        return Path(Git(real).text("rev-parse", "--absolute-git-dir"))
    except GitError:
        return None


_views: list[Path] = []


def _empty() -> Path:
    """An empty git directory in the temporary folder, one for this process and its copies; gone when the process ends."""
    if not _views or not (_views[-1] / "HEAD").is_file():  # a program that runs for days may find its temporary files cleared away
        folder = Path(tempfile.mkdtemp(prefix="cartographer-view-"))
        Finalize(None, shutil.rmtree, args=(folder,), kwargs={"ignore_errors": True}, exitpriority=0)
        for name in ("objects", "refs"):
            (folder / name).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        _views.append(folder)
    return _views[-1]


def objects_of(git_dir: Path) -> Git:
    """The objects of a repository, seen through an empty git directory of our own.

    None of the repository's settings apply, and a missing object is just missing: with a promisor remote in the
    configuration (a partial clone), git 2.39 to 2.45 ends when it meets one, whatever GIT_NO_LAZY_FETCH says.
    """
    objects = Path(Git(git_dir).text("rev-parse", "--git-path", "objects"))
    return Git(_empty(), objects=(Path.cwd() / objects).resolve())


def _feed(pipe: object, data: bytes) -> None:
    """Write all input at once; a child that ended early tells why on standard error."""
    try:
        pipe.write(data)  # type: ignore[attr-defined]
        pipe.close()  # type: ignore[attr-defined]
    except OSError:
        return


def _lines(descriptor: int) -> Iterator[str]:
    """Lines of a pipe as they come; git ends progress lines with a carriage return."""
    rest = b""
    while data := os.read(descriptor, 65536):
        *whole, rest = re.split(rb"[\r\n]", rest + data)
        rest = rest[-65536:]
        yield from (line.decode("utf-8", "replace") for line in whole if line)
    if rest:
        yield rest.decode("utf-8", "replace")
