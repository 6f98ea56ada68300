"""What the commands on kernels are put together from; the base install is enough for it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from app.adapters.affected import AffectedKernels
from app.adapters.facts_cache import FactsCache
from app.adapters.git_tree import GitTree
from app.core.errors import UserError
from app.kernels.affected.answer import Answer
from app.kernels.affected.config import CONFIG_LARGEST, Config, parse_config


def affected(  # noqa: PLR0913 - the command's options
    repo: Path,
    base: str,
    head: str,
    *,
    config: Path | None = None,
    cache: Path | None = None,
    tell: Callable[[str, int, int], None],
) -> Answer:
    """What `head` touches since it parted from `base`; `cache` None is the user's own folder."""
    given: Config | None = None
    if config is not None:
        given = parse_config(_text(config), str(config))
    kept = FactsCache(cache or _cache_folder() / "facts.sqlite", datetime.now(UTC).date())
    try:
        return AffectedKernels(GitTree(repo), kept, tell).answer(base, head, given)
    finally:
        kept.close()


def _cache_folder() -> Path:
    set_ = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(set_) if set_.startswith("/") else Path("~/.cache").expanduser()
    return home / "pulsegate"


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror}", hint="Name a TOML file."
        ) from None
    if len(raw) > CONFIG_LARGEST:
        raise UserError(f"{path} is larger than {CONFIG_LARGEST:,} bytes", hint="Make it shorter.")
    return raw.decode(errors="replace")
