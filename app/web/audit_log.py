"""`/audit.jsonl`: the audit log of one repository, for its administrators."""

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from starlette.responses import Response, StreamingResponse

from app.core.facts import Role
from app.db import audit
from app.web.parts import Parts
from app.web.sight import place
from app.web.viewer import AnyViewer
from app.wiring.web import WebParts

router = APIRouter()


@router.get("/audit.jsonl")
def audit_log(
    parts: Parts, viewer: AnyViewer, repository: Annotated[str, Query(max_length=300)]
) -> Response:
    """The entries as JSON lines, in order. `repository` is `owner/name`."""
    owner, _, name = repository.partition("/")
    where = place(parts, viewer, owner, name)
    if not where.recorded:
        roles = parts.access.roles(viewer.account, [where]) if viewer.account else None
        if roles is None or where.id not in roles.seen_by(Role.ADMIN):
            raise HTTPException(403, "The audit log is for administrators of the repository")
    return StreamingResponse(
        _lines(parts, where.id),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="audit.jsonl"'},
    )


def _lines(parts: WebParts, repository_id: int) -> Iterator[bytes]:
    for entry in audit.pages(parts.base.database.begin, repository_id=repository_id):
        yield json.dumps(entry, ensure_ascii=False).encode() + b"\n"
