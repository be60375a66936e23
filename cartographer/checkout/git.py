# SPDX-License-Identifier: BSD-3-Clause
"""The git program: the only module that starts it, and the only home of GitPython.

A repository may belong to a stranger. Nothing in its configuration is allowed to run a program: git looks at no hooks,
no file-system monitor, no external diff, and may open no connection unless a fetch was asked for. Only objects are
read, never a working tree.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


def environment(*, network: bool) -> dict[str, str]:
    """The variables that git runs with. Without `network`, no transport at all is allowed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or (network and _KEPT.fullmatch(k))}
    kept.update(
        LC_ALL="C", LANGUAGE="C", GIT_TERMINAL_PROMPT="0", GIT_NO_LAZY_FETCH="1", GIT_OPTIONAL_LOCKS="0",
        GIT_NO_REPLACE_OBJECTS="1", GIT_ATTR_NOSYSTEM="1", GIT_PAGER="cat",
        GIT_ALLOW_PROTOCOL="file:git:http:https:ssh" if network else "none",
    )
    if not network:  # the user's own settings (proxy, credentials) matter to a fetch only
        kept.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
    return kept


class GitError(CheckoutError):
    """git ended with an error; `stderr` is what it said."""

    def __init__(self, message: str, *, stderr: str, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, where=where, hint=hint)
        self.stderr = stderr


@dataclass(frozen=True, slots=True)
class Git:
    """The git program on one repository."""

    git_dir: Path | None = None
    network: bool = False
    keep: tuple[int, ...] = ()  # files that children hold open: the lock of the store that they write to

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The whole command line."""
        program = shutil.which("git")
        if program is None:
            raise CheckoutError("the git program is not installed", hint="Install git, or use a wheel: --from wheel.")
        where = [f"--git-dir={self.git_dir}"] if self.git_dir is not None else []
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return [program, "--no-pager", *settings, *where, *arguments]

    def run(self, *arguments: str, data: bytes = b"", timeout: float | None = None) -> bytes:
        """Run to the end and give what git printed; GitError with git's own words when it fails."""
        try:
            done = subprocess.run(
                self.command(arguments), input=data, capture_output=True, check=False, timeout=timeout,
                env=environment(network=self.network), pass_fds=self.keep,
            )
        except subprocess.TimeoutExpired as late:
            said = (late.stderr or b"").decode("utf-8", "replace")
            raise failure(arguments, said or f"no answer within {timeout:.0f} s", self.git_dir) from late
        if done.returncode != 0:
            raise failure(arguments, done.stderr.decode("utf-8", "replace"), self.git_dir)
        return done.stdout

    def text(self, *arguments: str, data: bytes = b"") -> str:
        """As `run`, as text without the last line feed."""
        return self.run(*arguments, data=data).decode("utf-8", "replace").removesuffix("\n")

    def succeeds(self, *arguments: str) -> bool:
        """Whether git ends well; its words are not wanted."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A running git with pipes on its input and output, its errors discarded."""
        return subprocess.Popen(
            self.command(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(network=self.network), pass_fds=self.keep,
        )

    def run_with_progress(self, arguments: Sequence[str], report: Callable[[str], None], data: bytes = b"") -> None:
        """Run a command of the network and hand on each line of progress that it writes to standard error."""
        with subprocess.Popen(
            self.command(arguments), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment(network=self.network), pass_fds=self.keep,
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


# "Receiving objects:  45% (450/1000), 12.00 MiB | 3.00 MiB/s", also with "remote: " before it
PROGRESS = re.compile(r"(?:remote: )?(?P<what>[A-Z][A-Za-z ]+):\s+(?:(?P<percent>\d+)% \((?P<done>\d+)/(?P<total>\d+)\)|(?P<count>\d+))(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class FetchStep:
    """How far git's own work is: what it does, steps done, steps in all (0: unknown), and its remark on bytes and speed."""

    what: str
    done: int
    total: int
    remark: str


def progress_parser(report: Callable[[FetchStep], None]) -> Callable[[str], None]:
    """A reader of git's progress lines; GitPython knows their forms."""
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
        except (ValueError, AttributeError, IndexError, TypeError):
            return  # a form of progress line that is not known is no reason to stop a fetch

    return read


def failure(arguments: Sequence[str], stderr: str, git_dir: Path | None) -> GitError:
    """Git's own words in one error, with the next step where it is known."""
    words = [line.strip() for line in stderr.splitlines() if line.strip() and not PROGRESS.match(line)]
    said = "; ".join(dict.fromkeys(words[-6:])) or "no message"
    return GitError(
        f"git {next((a for a in arguments if not a.startswith('-')), 'command')} failed: {said}",
        stderr=stderr, where=str(git_dir) if git_dir is not None else None, hint=_next_step(stderr),
    )


def _next_step(stderr: str) -> str | None:
    """What a user can do about the failures that are known."""
    if "No space left on device" in stderr or "Disk quota exceeded" in stderr:
        return "The disk is full: free some space, or let CARTOGRAPHER_CACHE name a folder on another disk."
    if re.search(r"missing|unable to read|bad object|could not fetch .* from promisor|lazy fetching disabled", stderr):
        return "The clone lacks objects (a partial or damaged clone): `git fetch --refetch --no-filter` brings them."
    if "not a git repository" in stderr:
        return "Give the path of a clone (bare or not), or an unpacked tree with --source."
    return None


def find_git_dir(path: Path) -> Path | None:
    """The git directory of a clone, worktree or bare repository at `path` itself; None where there is none."""
    real = path.expanduser().absolute()
    if (real / ".git").exists():
        real = real / ".git"
    elif not ((real / "objects").is_dir() and (real / "HEAD").exists()):
        return None
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


class BlobReader:
    """Contents of objects, from one `git cat-file --batch` that keeps running."""

    _CHUNK = 200  # ids written at once: 8 kB, less than any pipe holds, so neither side can wait for the other

    def __init__(self, git: Git) -> None:
        self._git = git
        self._child: subprocess.Popen[bytes] | None = None

    def read(self, blob: str) -> bytes | None:
        """The content of one blob; None when the clone lacks it or it is damaged."""
        return next(self.read_many((blob,)))[1]

    def read_many(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(id, content or None) in the order asked for. Chunks are read to their end before any is handed out."""
        chunk: list[str] = []
        for blob in blobs:
            chunk.append(blob)
            if len(chunk) == self._CHUNK:
                yield from self._read_chunk(chunk)
                chunk = []
        yield from self._read_chunk(chunk)

    def close(self) -> None:
        """End the running git."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                child.stdin.close()
            except OSError:
                child.kill()
            child.stdout.close()
            child.wait()

    def __del__(self) -> None:
        self.close()

    def _read_chunk(self, blobs: list[str]) -> list[tuple[str, bytes | None]]:
        """All of one chunk. git dies of a damaged object: that one is given up, and a new git reads the rest."""
        found: list[tuple[str, bytes | None]] = []
        while len(found) < len(blobs):
            rest = blobs[len(found):]
            child = self._running()
            try:
                self._ask(child, rest, found)
            except (OSError, EOFError):
                self.close()
                found.append((blobs[len(found)], None))
            except BaseException:
                self.close()  # half-read answers must not be taken for those of the next question
                raise
        return found

    def _ask(self, child: subprocess.Popen[bytes], blobs: list[str], found: list[tuple[str, bytes | None]]) -> None:
        """Write the ids, then read the answers."""
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"".join(blob.encode("ascii", "replace") + b"\n" for blob in blobs))
        child.stdin.flush()
        for blob in blobs:
            line = child.stdout.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            size = parse_batch_header(line)
            if size is None:
                found.append((blob, None))
                continue
            data = child.stdout.read(size + 1)
            if len(data) != size + 1:
                raise EOFError
            found.append((blob, data[:-1]))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = self._git.start("cat-file", "--batch")
        return self._child


_BATCH_HEADER = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})? (?:blob|tree|commit|tag) ([0-9]{1,15})\n")


def parse_batch_header(line: bytes) -> int | None:
    """The size of the object that follows a line of `cat-file --batch`; None for "... missing" and anything else."""
    match = _BATCH_HEADER.fullmatch(line)
    return int(match[1]) if match else None


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
