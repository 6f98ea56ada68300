"""The tables of a data folder, read as they are; each may be missing."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from app.core.errors import UserError

Rows = list[dict[str, Any]]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Sources within AIDev's tables that came without a licence of their own: not for the shipped model.
UNLICENSED = ("purdue", "renato")


def folder(path: Path) -> Path:
    """The folder, if it is one that holds tables."""
    if not path.is_dir():
        raise UserError(
            f"{path} is no folder", hint="give the folder that holds the tables (*.parquet)"
        )
    if not any(path.glob("*.parquet")):
        raise UserError(f"{path} holds no table", hint="it should hold files such as prs.parquet")
    return path


def read(data: Path, name: str, columns: list[str] | None = None) -> Rows | None:
    """The rows of a table, or None where the folder does not have it.

    Columns that the table does not have are None in every row.
    """
    file = data / f"{name}.parquet"
    if not file.is_file():
        return None
    try:
        has = pq.read_schema(file).names
        wanted = None if columns is None else [c for c in columns if c in has]
        rows: Rows = pq.read_table(file, columns=wanted).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise UserError(
            f"{file} cannot be read: {error}", hint="is it a whole parquet file?"
        ) from error
    missing = dict.fromkeys(c for c in columns or () if c not in has)
    return [{**row, **missing} for row in rows] if missing else rows


def licensed(source: str | None) -> bool:
    """Whether rows of that source may train what ships."""
    return not any(word in (source or "") for word in UNLICENSED)


def digest(data: Path, name: str) -> str:
    """SHA-256 of a table's file; "" where it is missing."""
    file = data / f"{name}.parquet"
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


class Pulls(NamedTuple):
    """Pull requests of agents and people, with what is needed to split and judge them.

    `mixed`: of people who are known to use an agent too, so that the label may be wrong.
    """

    rows: Rows
    label: NDArray[np.int64]
    repository: NDArray[np.str_]
    family: NDArray[np.str_]
    core: Bools
    disclosed: Bools
    created: NDArray[np.datetime64]
    licensed: Bools
    mixed: Bools

    def take(self, where: NDArray[Any]) -> "Pulls":
        """Some of them, by mask or index."""
        at = np.arange(len(self.rows))[where]
        return Pulls([self.rows[i] for i in at], *(column[at] for column in self[1:]))


def pulls(data: Path) -> Pulls | None:
    """`prs` without bot accounts and without agents in the people's part, by `label_quality`."""
    rows = read(data, "prs")
    if rows is None:
        return None
    rows = [r for r in rows if r["label_quality"] in {"agent", "human_clean"}]
    return Pulls(
        rows=rows,
        label=np.array([int(r["label_quality"] == "agent") for r in rows], dtype=np.int64),
        repository=np.array([r["repo_hash"] or "" for r in rows], dtype=np.str_),
        family=np.array([r["agent"] or "" for r in rows], dtype=np.str_),
        core=np.array([bool(r["in_core"]) for r in rows], dtype=np.bool_),
        disclosed=np.array([bool(r["discloses_agent"]) for r in rows], dtype=np.bool_),
        created=np.array(
            [r["created_at"].replace(tzinfo=None) for r in rows], dtype="datetime64[us]"
        ),
        licensed=np.array([licensed(r["source"]) for r in rows], dtype=np.bool_),
        mixed=np.array(
            [
                r["label_quality"] == "human_clean" and bool(r.get("human_author_also_uses_agent"))
                for r in rows
            ],
            dtype=np.bool_,
        ),
    )


def texts(rows: Rows) -> list[tuple[str, str]]:
    """Title and body of each, scrubbed of vendors where the table has them so."""
    return [
        (
            (r.get("title_scrubbed") if r.get("title_scrubbed") is not None else r["title"]) or "",
            (r.get("body_scrubbed") if r.get("body_scrubbed") is not None else r["body"]) or "",
        )
        for r in rows
    ]
