"""Whether a pull request says itself that an agent wrote it.

Disclosure informs and lowers friction; it never adds suspicion. Only exact forms count, never a
bare name: there are people called Claude.
"""

import re

from app.core.github import PullRequest
from app.core.text import one_line

# Branch prefixes that the vendors' own tools create, as their documentation names them.
_BRANCHES = {
    "claude/": "Claude Code",
    "codex/": "Codex",
    "copilot/": "Copilot",
    "cursor/": "Cursor",
    "devin/": "Devin",
}
# Trailers that a person or a tool writes to say it: the kernel's `Assisted-by` and its kin.
_TRAILER = re.compile(r"^(?:Assisted-by|Generated-by):([^\n]{1,300})", re.IGNORECASE | re.MULTILINE)


def disclosed(pull: PullRequest) -> str | None:
    """Who helped, in the words of the pull request itself; None where it says nothing."""
    for prefix, name in _BRANCHES.items():
        if pull.head.ref.startswith(prefix):
            return name
    found = (one_line(match.group(1), 80) for match in _TRAILER.finditer(pull.body))
    return next((words for words in found if words), None)
