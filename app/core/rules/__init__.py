"""The rules: each reads the facts and says whether it applies, why, and how far it would go.

To add one, write a file like `burst.py` and put its `RULE` on the list.
"""

from typing import Any

from app.core.rules import burst, unattended
from app.core.rules.base import Rule

RULES: tuple[Rule[Any], ...] = (
    burst.RULE,
    unattended.RULE,
)
