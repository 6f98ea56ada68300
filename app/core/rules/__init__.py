"""The rules: each reads the facts and says whether it applies, why, and how far it would go.

To add one, write a file like `burst.py` and put it on the list.
"""

from typing import Any

from app.core.rules import (
    accepted_issue,
    apps,
    asked_for,
    burst,
    campaign,
    cap,
    denied,
    diff_shape,
    paths,
    pause,
    same_issue,
    template,
    unattended,
)
from app.core.rules.base import Rule

RULES: tuple[Rule[Any], ...] = tuple(
    module.RULE
    for module in (
        denied,
        campaign,
        burst,
        pause,
        cap,
        accepted_issue,
        paths,
        template,
        apps,
        diff_shape,
        same_issue,
        asked_for,
        unattended,
    )
)
