"""Which configuration is in force: a repository's file over its organisation's default."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from app.core.errors import Rejected, RetryLater
from app.core.github import Installation, RepositoryName
from app.db import configurations, installations

PATH = ".github/pulsegate.yml"
DEFAULT = "version: 1\nmode: ask\nrules: {burst: {prs: 3}, cap: {mode: label, open: 7}}\nexempt: {accounts: [1, 2]}\n"
OWN = "mode: close\nrules: {cap: {open: 2}}\nexempt: {accounts: [3]}\n"


@pytest.fixture
def org(gate: Any) -> Any:
    """The gate with a repository `.github` that has a default."""
    gate.world.add_repository("acme/.github", files={PATH: DEFAULT})
    gate.world.installation.repositories = None
    return gate


def _decided(gate: Any) -> None:
    gate.world.open_pull(by="stranger")
    gate.settle()


def _row(gate: Any, name: str = "widgets") -> Any:
    return gate.sql("SELECT * FROM repositories WHERE name = :name", name=name)[0]


def test_mappings_merge_and_lists_replace(org: Any) -> None:
    org.policy(OWN)
    _decided(org)
    policy = _row(org)["policy"]
    assert policy["mode"] == "close"
    assert policy["rules"]["burst"]["prs"] == 3
    cap = policy["rules"]["cap"]
    assert (cap["mode"], cap["open"]) == ("label", 2)
    assert policy["exempt"]["accounts"] == [3]
    assert _row(org)["policy_sha"].count("+") == 1


def test_a_repository_without_a_file_has_the_default(org: Any) -> None:
    _decided(org)
    assert _row(org)["policy"]["mode"] == "ask"


def test_a_default_that_is_pushed_counts_everywhere(org: Any) -> None:
    org.policy(OWN)
    org.world.add_repository("acme/gadgets")
    _decided(org)
    org.world.open_pull(by="stranger", repo="acme/gadgets")
    org.settle()
    new = DEFAULT.replace("prs: 3", "prs: 4").replace("mode: ask", "mode: label")
    org.world.push_files({PATH: new}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy"]["rules"]["burst"]["prs"] == 4
    assert _row(org)["policy"]["mode"] == "close"
    assert _row(org, "gadgets")["policy"]["mode"] == "label"


def test_a_repository_that_is_renamed_to_the_defaults_counts_at_once(gate: Any) -> None:
    gate.world.add_repository("acme/plans", files={PATH: DEFAULT})
    gate.world.installation.repositories = None
    _decided(gate)
    assert _row(gate)["policy"] is None
    gate.world.rename_repository(".github", by="olivia", repo="acme/plans")
    gate.settle()
    assert _row(gate)["policy"]["mode"] == "ask"


def test_another_default_branch_brings_its_own_file(org: Any) -> None:
    org.policy(OWN)
    _decided(org)
    org.world.change_default_branch("next", files={PATH: "mode: label\n"}, by="olivia")
    _decided(org)
    assert _row(org)["policy"]["mode"] == "label"
    assert _row(org)["policy"]["rules"]["cap"]["mode"] == "label"
    org.world.change_default_branch("trunk", files={}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy"]["rules"]["cap"]["mode"] == "off"
    assert _row(org)["policy"]["mode"] == "label"


BROKEN = "mode: clsoe\n"


def test_a_broken_default_keeps_the_last_good_one_and_says_so(org: Any) -> None:
    _decided(org)
    org.world.push_files({PATH: BROKEN}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy"]["mode"] == "ask"
    error = org.sql("SELECT policy_error FROM installations")[0]["policy_error"]
    assert error.startswith("acme/.github: ")
    assert "line 1, column 1: mode" in error
    org.world.push_files({PATH: DEFAULT}, by="olivia", repo="acme/.github")
    org.settle()
    assert org.sql("SELECT policy_error FROM installations")[0]["policy_error"] is None


def test_a_broken_file_of_its_own_keeps_the_last_good_one_over_a_new_default(org: Any) -> None:
    org.policy(OWN)
    _decided(org)
    org.world.push_files({PATH: BROKEN}, by="olivia")
    org.world.push_files(
        {PATH: DEFAULT.replace("prs: 3", "prs: 9")}, by="olivia", repo="acme/.github"
    )
    org.settle()
    row = _row(org)
    assert row["policy"]["mode"] == "close"
    assert row["policy"]["rules"]["burst"]["prs"] == 9
    assert "line 1, column 1: mode" in row["policy_error"]


@pytest.mark.parametrize("which", ["/.github/contents", "/widgets/contents"])
@pytest.mark.parametrize("status", [500, 403])
def test_where_github_fails_the_last_good_one_stays_and_never_the_defaults(
    org: Any, which: str, status: int
) -> None:
    org.policy(OWN)
    _decided(org)
    org.github.fault("status", status=status, method="GET", path=which, times=None)
    org.world.push_files({PATH: "mode: observe\n"}, by="olivia")
    org.world.push_files({PATH: "mode: observe\n"}, by="olivia", repo="acme/.github")
    org.settle()
    org.clock.pass_(hours=1)
    org.sweep.ring()
    org.settle()
    policy = _row(org)["policy"]
    assert policy["mode"] == ("observe" if ".github" in which else "close")
    assert policy["rules"]["burst"]["prs"] == 3 or ".github" not in which


@pytest.mark.parametrize("which", ["/.github/contents", "/widgets/contents"])
def test_where_github_fails_from_the_start_nothing_is_decided_until_it_answers(
    org: Any, which: str
) -> None:
    org.policy(OWN)
    org.github.fault("status", status=500, method="GET", path=which, times=None)
    _decided(org)
    assert org.state(1) == "unknown"
    org.github.faults.clear()
    org.clock.pass_(minutes=5)
    org.sweep.ring()
    org.settle()
    assert org.state(1) == "clear"
    assert _row(org)["policy"]["mode"] == "close"


def test_a_default_where_the_app_is_not_installed_is_read_every_night(org: Any) -> None:
    _decided(org)
    files = org.world.repository("acme/.github").files
    files[PATH] = DEFAULT.replace("mode: ask", "mode: label").encode()
    org.reconcile.run(org.world.installation.id)
    assert _row(org)["policy"]["mode"] == "label"


def test_a_file_that_is_taken_away_leaves_the_default(org: Any) -> None:
    org.policy(OWN)
    _decided(org)
    org.world.push_files({PATH: None}, by="olivia")
    org.settle()
    assert _row(org)["policy"]["mode"] == "ask"
    org.world.push_files({PATH: None}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy"] is None


def test_what_two_files_do_not_say_together_leaves_the_last_good_one(org: Any) -> None:
    org.policy("rules: {pause: {start: 2026-01-01, until: 2026-02-01}}\n")
    _decided(org)
    default = "mode: label\nrules: {pause: {start: 2026-03-01, until: 2026-04-01}}\n"
    org.world.push_files({PATH: default}, by="olivia", repo="acme/.github")
    org.world.push_files({PATH: "rules: {pause: {message: Back soon.}}\n"}, by="olivia")
    org.settle()
    assert _row(org)["policy"]["rules"]["pause"]["start"].startswith("2026-03-01")
    org.world.push_files(
        {PATH: "rules: {pause: {start: 2026-05-01, until: 2026-06-01}}\n"}, by="olivia"
    )
    org.settle()
    assert _row(org)["policy"]["rules"]["pause"]["until"].startswith("2026-06-01")


def test_a_repository_that_we_cannot_see_any_more_keeps_its_last_good_file(org: Any) -> None:
    org.policy(OWN)
    _decided(org)
    org.github.fault("status", status=404, method="GET", path="^/repos/acme/widgets", times=None)
    org.clock.pass_(hours=1)
    with suppress(Rejected, RetryLater):
        org.reconcile.run(org.world.installation.id)
    assert _row(org)["policy"]["mode"] == "close"


def test_a_default_that_we_cannot_see_any_more_stays(org: Any) -> None:
    _decided(org)
    org.github.fault("status", status=404, method="GET", path="^/repos/acme/.github", times=None)
    org.clock.pass_(hours=1)
    org.reconcile.run(org.world.installation.id)
    assert _row(org)["policy"]["mode"] == "ask"


def test_a_file_that_was_never_good_is_not_replaced_by_a_default_that_goes_further(
    org: Any,
) -> None:
    org.policy(BROKEN)
    _decided(org)
    assert _row(org)["policy"] is None
    org.world.push_files({PATH: "mode: close\n"}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy"] is None
    org.world.push_files({PATH: "mode: label\n"}, by="olivia")
    org.settle()
    assert _row(org)["policy"]["mode"] == "label"


def test_a_default_that_is_read_late_does_not_undo_a_newer_one(org: Any) -> None:
    _decided(org)
    where, now = org.world.installation.id, org.clock()
    with org.database.begin() as tx:
        later = now + timedelta(seconds=9)
        configurations.keep_default(tx, where, {"mode": "label"}, "new", later)
        configurations.keep_default(tx, where, {"mode": "close"}, "old", now)
        configurations.default_failed(tx, where, "old", now)
    row = org.sql("SELECT policy_sha, policy_error FROM installations")[0]
    assert (row["policy_sha"], row["policy_error"]) == ("new", None)


def test_two_files_that_fit_again_are_no_error_any_more(org: Any) -> None:
    org.policy("rules: {pause: {start: 2026-01-01, until: 2026-02-01}}\n")
    _decided(org)
    bad = "rules: {pause: {start: 2026-03-01, until: 2026-04-01}}\n"
    org.policy("rules: {pause: {message: Back soon.}}\n")
    org.world.push_files({PATH: "rules: {pause: {message: Back.}}\n"}, by="olivia")
    org.settle()
    with org.database.begin() as tx:
        configurations.policy_failed(
            tx, org.world.repository("acme/widgets").id, "two files: x", org.clock()
        )
    org.clock.pass_(seconds=5)
    org.world.push_files({PATH: bad}, by="olivia", repo="acme/.github")
    org.settle()
    assert _row(org)["policy_error"] is None


def test_a_repository_that_moves_is_read_with_the_default_of_its_new_owner(org: Any) -> None:
    _decided(org)
    assert _row(org)["policy_read_at"] is not None
    named = RepositoryName(id=_row(org)["id"], full_name="other/widgets")
    with org.database.begin() as tx:
        installations.put_installation(tx, Installation(id=4711), org.clock())
        installations.put_repositories(tx, 4711, [named], org.clock())
    assert _row(org)["policy_read_at"] is None
