"""What is kept of people: each table is of one class, and the times are those that are kept to."""

from datetime import timedelta

import pytest

from app.core.privacy import CLASSES, OTHERS, keep, span
from app.core.proofs.limits import KEPT
from app.db import activity, people, personal
from app.db.tables import metadata


def test_each_table_is_of_one_class_or_holds_nothing_of_contributors() -> None:
    classed = [table for one in CLASSES.values() for table in one.tables]
    assert len(classed) == len(set(classed))
    assert set(classed) | OTHERS == set(metadata.tables)
    assert not OTHERS & set(classed)


def test_whatever_names_an_account_is_shown_or_says_why_not() -> None:
    shown = {table.name for found in personal.tables().values() for table in found}
    hidden = {table for one in CLASSES.values() if not one.shown for table in one.tables}
    for table in metadata.tables.values():
        if {"account_id", "author_id"} & set(table.c.keys()) and table.name not in OTHERS:
            assert table.name in shown | hidden


def test_what_has_an_end_says_when() -> None:
    assert span(CLASSES["permissions"]) == "5 minutes after it was asked"
    assert span(CLASSES["public_activity"]) == "1 day after it was read"
    assert span(CLASSES["audit"]) == "as long as the App is installed there"
    with pytest.raises(ValueError, match="as long as"):
        keep("audit")
    assert timedelta(days=1) == activity.FRESH
    assert timedelta(minutes=5) == people.FRESH
    assert keep("mail_limits") >= KEPT
