"""Which kernels a change of a repository touches: git, cache and parsing around the index."""

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version

from app.adapters.facts_cache import FactsCache
from app.adapters.git_tree import Blob, GitTree, TreeChange
from app.adapters.parse_pool import Job, parse_all
from app.kernels.affected.answer import Answer
from app.kernels.affected.assemble import assemble
from app.kernels.affected.changes import Changed
from app.kernels.affected.config import CONFIG_LARGEST, CONFIG_PATH, Config, parse_config
from app.kernels.affected.facts import FACTS_VERSION, UNREAD, FileFacts, unpack
from app.kernels.affected.index import Index
from app.kernels.affected.parsing import LARGEST, reader_of
from app.kernels.affected.resolve import Trees, resolve

MOST_FILES = 60_000  # that are read of one tree
MOST_BYTES = 800_000_000  # of those not in the cache

Progress = Callable[[str, int, int], None]


class AffectedKernels:
    """One repository and one cache; answers any number of questions."""

    def __init__(self, git: GitTree, cache: FactsCache, tell: Progress) -> None:
        self._git = git
        self._cache = cache
        self._tell = tell
        versions = "-".join(
            version(name) for name in ("tree-sitter", "tree-sitter-cuda", "tree-sitter-python")
        )
        self._version = f"{FACTS_VERSION}/{versions}"
        self.warnings: list[str] = []

    def answer(self, base: str, head: str, config: Config | None = None) -> Answer:
        """The operators and tests that `head` touches since it parted from `base`.

        The configuration, where none is given, is the base's own: a pull request cannot change what
        it is asked.
        """
        self.warnings = []
        base_id, head_id = self._git.commit(base), self._git.commit(head)
        parted = self._git.merge_base(base_id, head_id) or base_id
        if config is None:
            config = self._config(base_id)
        changes = self._changed(self._git.changes(parted, head_id))
        with _no_collection():
            trees = Trees(self.index(head_id), lambda: self.index(parted))
            answer = assemble(resolve(changes, trees, config), trees, config)
        return answer.model_copy(
            update={
                "base": base_id,
                "head": head_id,
                "merge_base": parted,
                "warnings": list(dict.fromkeys(self.warnings)),
            }
        )

    def index(self, commit: str) -> Index:
        """The index of a commit's tree, from the cache where its files are known."""
        with _no_collection():
            return self._index(commit)

    def _index(self, commit: str) -> Index:
        files = {p: b for p, b in self._git.files(commit).items() if reader_of(p)}
        if len(files) > MOST_FILES:
            self.warnings.append(f"only {MOST_FILES:,} of {len(files):,} source files were read")
            files = dict(sorted(files.items())[:MOST_FILES])
        keys = {path: self._key(path, blob.id) for path, blob in files.items()}
        known = self._cache.get(sorted(set(keys.values())))
        facts: dict[str, FileFacts] = {}
        damaged = set()
        for key, packed in known.items():
            try:
                facts[key] = unpack(packed)
            except (ValueError, TypeError, KeyError, IndexError):
                damaged.add(key)
        self._cache.forget(damaged)
        missing = {keys[p]: (reader_of(p), b) for p, b in files.items() if keys[p] not in facts}
        facts.update(self._parsed(missing))
        return Index({path: facts.get(key, UNREAD) for path, key in keys.items()})

    def _parsed(self, missing: Mapping[str, tuple[str, Blob]]) -> dict[str, FileFacts]:
        wanted: dict[str, tuple[str, Blob]] = {}
        size = 0
        for key, (reader, blob) in missing.items():
            size += blob.size
            if blob.size <= LARGEST and size <= MOST_BYTES:
                wanted[key] = reader, blob
        made: dict[str, bytes | None] = {}

        def done(key: str, packed: bytes | None) -> None:
            made[key] = packed
            self._tell("reading sources", len(made), len(wanted))

        parse_all(self._jobs(wanted, digests=False), len(wanted), done)
        whole = {key: packed for key, packed in made.items() if packed is not None}
        self._cache.put(whole)
        unread = len(missing) - len(whole)
        if unread:
            self.warnings.append(
                f"{unread} source files were too large, too slow or too strange to be read"
            )
        return {key: unpack(json.loads(packed)) for key, packed in whole.items()}

    def _jobs(self, wanted: Mapping[str, tuple[str, Blob]], *, digests: bool) -> Iterator[Job]:
        by_id: dict[str, list[tuple[str, str]]] = {}
        blobs: dict[str, Blob] = {}
        for key, (reader, blob) in wanted.items():
            by_id.setdefault(blob.id, []).append((key, reader))
            blobs[blob.id] = blob
        for blob_id, content in self._git.read(blobs.values()):
            for key, reader in by_id[blob_id]:
                yield Job(key, reader, content, digests)

    def _changed(self, changes: list[TreeChange]) -> list[Changed]:
        """Both versions of each changed file, read so that they can be compared."""
        blobs = self._sizes(changes)
        wanted: dict[str, tuple[str, Blob]] = {}
        for change in changes:
            for path, blob_id in ((change.old_path, change.old), (change.path, change.new)):
                blob = blobs.get(blob_id or "")
                if blob is not None and reader_of(path) and blob.size <= LARGEST:
                    wanted[self._key(path, blob.id)] = reader_of(path), blob
        made: dict[str, bytes | None] = {}
        parse_all(self._jobs(wanted, digests=True), len(wanted), made.__setitem__)

        def facts(path: str, id: str | None) -> FileFacts | None:
            if id is None:
                return None
            packed = made.get(self._key(path, id))
            return unpack(json.loads(packed)) if packed is not None else UNREAD

        return [
            Changed(c.path, c.old_path, facts(c.old_path, c.old), facts(c.path, c.new))
            for c in changes
        ]

    def _sizes(self, changes: list[TreeChange]) -> dict[str, Blob]:
        both = (blob_id for change in changes for blob_id in (change.old, change.new))
        ids = dict.fromkeys(blob_id for blob_id in both if blob_id is not None)
        return {blob.id: blob for blob in self._git.blobs(ids)}

    def _config(self, commit: str) -> Config:
        text = self._git.text(commit, CONFIG_PATH, CONFIG_LARGEST)
        return parse_config(text, CONFIG_PATH) if text is not None else Config()

    def _key(self, path: str, blob: str) -> str:
        return f"{self._version}/{reader_of(path)}/{blob}"


@contextmanager
def _no_collection() -> Iterator[None]:
    """An index is half a million small objects that all live: looking for garbage is in vain."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
