"""Reading a git repository by object ids, with nothing in it ever run or checked out.

Only plumbing commands, by their argument lists; names that a person typed are turned into ids
first, and only ids go further. What the repository's own configuration could start is switched
off, and so is every transport. Each command has a time limit and a limit of what it may print.
"""

import contextlib
import hashlib
import os
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.core.errors import UserError
from app.core.text import one_line

_SAFE = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "protocol.allow=never",
    "diff.external=", "core.commitGraph=true", "log.showSignature=false", "gc.auto=0",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REGULAR = {"100644", "100755", "100664"}  # no links, no submodules
_LISTING = 200_000_000  # bytes of a tree's listing; some two million files
_BATCH = 4_000_000  # bytes of contents asked for at a time
_RENAMES = 2000  # files compared for renames; beyond that a rename is a deletion and an addition


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content: its id, and its size in bytes."""

    id: str
    size: int


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One file of a diff. A blob is None where the file is not there, or is no regular file."""

    status: str  # A, M, D, R, T
    old_path: str
    path: str
    old: str | None
    new: str | None


class GitTree:
    """One repository. Every method raises `UserError` for what its caller can mend."""

    def __init__(self, repo: Path, *, seconds: float = 60) -> None:
        self._repo = repo
        self._seconds = seconds
        self._run(["rev-parse", "--git-dir"], 10_000)

    def commit(self, revision: str) -> str:
        """The full id of a commit that a branch, tag or id names."""
        argv = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        try:
            found = self._run(argv, 10_000).decode(errors="replace").strip()
        except (UserError, ValueError):  # ValueError: a NUL, which no argument may hold
            found = ""
        if not _ID.match(found):
            raise UserError(
                f"the repository knows no commit {one_line(revision, 100)}",
                hint="Name a branch, a tag or an id; after `git fetch` of what it stands in.",
            )
        return found

    def merge_base(self, one: str, other: str) -> str | None:
        """The commit where two ids parted; None if they have none in common."""
        done = self._run(["merge-base", _checked(one), _checked(other)], 10_000, fine=(0, 1))
        found = done.decode().strip()
        return found if _ID.match(found) else None

    def files(self, commit: str) -> dict[str, Blob]:
        """All regular files of a commit's tree."""
        listing = self._run(
            ["ls-tree", "-r", "-z", "-l", "--full-tree", _checked(commit)], _LISTING
        )
        found: dict[str, Blob] = {}
        for entry in listing.split(b"\0"):
            head, tab, path = entry.partition(b"\t")
            if not tab:
                continue
            mode, _, blob_id, size = head.split()
            if mode.decode() in _REGULAR:
                found[_path(path)] = Blob(blob_id.decode(), int(size))
        return found

    def changes(self, old: str, new: str) -> list[TreeChange]:
        """What differs between two commits, with renames followed."""
        argv = [
            "diff-tree", "-r", "-z", "-M", f"-l{_RENAMES}", "--raw", "--no-abbrev", "--no-ext-diff",
            "--no-textconv", "--no-color", _checked(old), _checked(new),
        ]  # fmt: skip
        parts = iter(self._run(argv, _LISTING).split(b"\0"))
        found = []
        for head in parts:
            if not head.startswith(b":"):
                continue
            old_mode, new_mode, old_id, new_id, status = head[1:].decode().split()
            before = after = _path(next(parts))
            if status[0] in "RC":
                after = _path(next(parts))
            found.append(
                TreeChange(
                    status[0],
                    before,
                    after,
                    old_id if old_mode in _REGULAR else None,
                    new_id if new_mode in _REGULAR else None,
                )
            )
        return found

    def blobs(self, ids: Iterable[str]) -> list[Blob]:
        """The sizes of contents by their ids."""
        asked = "".join(f"{_checked(blob_id)}\n" for blob_id in ids).encode()
        said = self._run(["cat-file", "--batch-check"], 10_000 + 3 * len(asked), given=asked)
        lines = (line.split() for line in said.decode(errors="replace").splitlines())
        return [Blob(line[0], int(line[2])) for line in lines if line[1:2] == ["blob"]]

    def read(self, blobs: Iterable[Blob]) -> Iterator[tuple[str, bytes]]:
        """Contents, some megabytes at a time; each is checked against its id."""
        for batch in _batches(blobs):
            ids = "".join(f"{_checked(blob.id)}\n" for blob in batch).encode()
            most = sum(blob.size + 200 for blob in batch)
            text = self._run(["cat-file", "--batch"], most, given=ids)
            at = 0
            for blob in batch:
                end = text.find(b"\n", at)
                head = text[at:end].split()
                if len(head) != 3 or head[1] != b"blob":
                    raise UserError(
                        f"the repository has no content {blob.id}",
                        hint="It may be a partial clone; fetch the two commits whole.",
                    )
                size = int(head[2])
                content = text[end + 1 : end + 1 + size]
                _check(blob.id, content)
                yield blob.id, content
                at = end + 2 + size

    def text(self, commit: str, path: str, most: int) -> str | None:
        """One file of a commit as text; None if it is not there."""
        blob = self.files(commit).get(path)
        if blob is None:
            return None
        if blob.size > most:
            raise UserError(f"{path} is larger than {most:,} bytes", hint="Make it shorter.")
        return next(content for _, content in self.read([blob])).decode(errors="replace")

    def _run(
        self, argv: Sequence[str], most: int, *, given: bytes = b"", fine: tuple[int, ...] = (0,)
    ) -> bytes:
        options = [word for setting in _SAFE for word in ("-c", setting)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        try:
            process = subprocess.Popen(
                ["git", "-C", str(self._repo), "--no-pager", *options, *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment | _ENVIRONMENT,
            )
        except OSError as error:
            raise UserError(
                f"git cannot be started: {error.strerror}", hint="Install git 2.30 or newer."
            ) from None
        watch = threading.Timer(self._seconds, process.kill)
        watch.start()
        try:
            out, complaint = _talk(process, given, most)
        finally:
            watch.cancel()
            process.kill()
            code = process.wait()
        if len(out) > most:
            raise UserError(
                f"git {argv[0]} prints more than {most:,} bytes", hint="The tree is too large."
            )
        if code not in fine:
            self._complain(argv[0], code, complaint)
        return out

    def _complain(self, command: str, code: int, complaint: bytes) -> None:
        said = one_line(complaint.decode(errors="replace"), 300)
        if code < 0 and not said:
            raise UserError(
                f"git {command} took more than {self._seconds:.0f} seconds",
                hint="Try again; the repository may be on a slow disk.",
            )
        raise UserError(
            f"git {command} in {self._repo} failed: {said}",
            hint="--repo is the folder of a git repository, cloned or bare.",
        )


def _talk(process: "subprocess.Popen[bytes]", given: bytes, most: int) -> tuple[bytes, bytes]:
    """What it prints, at most one byte more than allowed, and the beginning of its complaints."""
    said: list[bytes] = []
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise ValueError("all three are pipes")
    threads = [
        threading.Thread(target=_write, args=(stdin, given), daemon=True),
        threading.Thread(target=lambda: said.append(_drain(stderr)), daemon=True),
    ]
    for thread in threads:
        thread.start()
    with stdout, stderr:
        out = stdout.read(most + 1)
        if len(out) > most:
            process.kill()
        process.wait()
        for thread in threads:
            thread.join()
    return out, b"".join(said)


def _write(stdin: IO[bytes], given: bytes) -> None:
    with contextlib.suppress(OSError):  # it has gone; its exit code says why
        stdin.write(given)
    with contextlib.suppress(OSError):
        stdin.close()


def _drain(stderr: IO[bytes]) -> bytes:
    first = stderr.read(10_000)
    while stderr.read(1 << 16):
        pass
    return first


def _batches(blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
    batch: list[Blob] = []
    size = 0
    for blob in blobs:
        batch.append(blob)
        size += blob.size
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _checked(id: str) -> str:
    if not _ID.match(id):
        raise ValueError(f"no object id: {id!r}")
    return id


def _check(id: str, content: bytes) -> None:
    """An id that a cache is kept by has to be that of the content."""
    make = hashlib.sha1 if len(id) == 40 else hashlib.sha256
    made = make(b"blob %d\0" % len(content), usedforsecurity=False)
    made.update(content)
    if made.hexdigest() != id:
        raise UserError(f"the content of {id} has another id", hint="Run git fsck.")


def _path(raw: bytes) -> str:
    r"""Bytes that are no UTF-8 are shown as \x…; a path is only compared, never opened."""
    return raw.decode("utf-8", "backslashreplace")
