"""All tables. Times are UTC; ids without a sequence are GitHub's own numeric ids."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)


def _time(name: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def _made() -> Column[object]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now())


installations = Table(
    "installations",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger),
    Column("account_login", Text),
    Column("permissions", JSONB, nullable=False, server_default=text("'{}'")),
    _time("installed_at", nullable=False),
    _time("suspended_at"),
    _time("deleted_at"),
    # Answers that a recording brought with it; NULL for a real installation.
    Column("recording", JSONB(none_as_null=True)),
    _time("reconciled_at"),
    # The organisation's default, from its repository `.github`: as written, for all to build on.
    Column("policy", JSONB(none_as_null=True)),
    Column("policy_sha", Text),
    Column("policy_error", Text),
    _time("policy_read_at"),
)

repositories = Table(
    "repositories",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column(
        "installation_id", BigInteger, ForeignKey("installations.id"), nullable=False, index=True
    ),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("private", Boolean, nullable=False, server_default=text("false")),
    Column("default_branch", Text, nullable=False, server_default=text("'main'")),
    _time("installed_at", nullable=False),
    _time("removed_at"),
    # In force: the repository's own file (`policy_own`, as written) over the organisation's.
    Column("policy", JSONB(none_as_null=True)),
    Column("policy_own", JSONB(none_as_null=True)),
    Column("policy_own_sha", Text),
    Column("policy_sha", Text),
    Column("policy_error", Text),
    _time("policy_read_at"),
    _time("reconciled_at"),
    Index("repositories_name_idx", text("lower(owner)"), text("lower(name)")),
)

permissions = Table(
    "permissions",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("role", SmallInteger, nullable=False),
    _time("read_at", nullable=False),
)

statements = Table(
    "statements",
    metadata,
    # An account's own words on what is kept of it.
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("words", Text, nullable=False),
    _time("at", nullable=False),
)

erasures = Table(
    "erasures",
    metadata,
    # Erasures that go on: of what was opened before `at` and has not ended.
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    _time("at", nullable=False),
)

account_activity = Table(
    "account_activity",
    metadata,
    # The newest public events of an account, packed, for a day: one request serves a flood.
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("events", LargeBinary, nullable=False),
    _time("read_at", nullable=False),
)

experience = Table(
    "experience",
    metadata,
    # What came of earlier scores in a repository (`core.local`), fitted every night.
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("local", JSONB, nullable=False),
    _time("fitted_at", nullable=False),
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    # Where it came from, and what makes it the same stimulus when it comes twice.
    Column("source", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("action", Text, nullable=False, server_default=text("''")),
    Column("installation_id", BigInteger),
    Column("repository_id", BigInteger),
    Column("pull_number", BigInteger),
    _time("received_at", nullable=False),
    Column("attempts", SmallInteger, nullable=False, server_default=text("0")),
    _time("due_at", nullable=False),
    _time("rung_at"),
    _time("handled_at"),
    Column("outcome", Text),
    Column("last_error", Text),
    UniqueConstraint("source", "key"),
    Index("inbox_pending_idx", "due_at", postgresql_where=text("handled_at IS NULL")),
    Index(
        "inbox_pull_idx",
        "repository_id",
        "pull_number",
        postgresql_where=text("handled_at IS NULL"),
    ),
)

payloads = Table(
    "payloads",
    metadata,
    # The payload of a delivery, packed (`app.db.packing`), until retention takes the row: in a
    # table of its own, since then its room goes back to the disk.
    Column("inbox_id", BigInteger, ForeignKey("inbox.id"), primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)

cases = Table(
    "cases",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, ForeignKey("repositories.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("author_id", BigInteger),
    # The pull request as last seen (`PullRequest`), and what it was read from.
    Column("snapshot", JSONB, nullable=False),
    _time("opened_at", nullable=False),
    _time("updated_at", nullable=False),
    Column("updated_rank", SmallInteger, nullable=False, server_default=text("0")),
    Column("pull_state", Text, nullable=False),
    Column("merged", Boolean, nullable=False, server_default=text("false")),
    # When somebody else first wrote on it, and when its author last did after that.
    _time("asked_at"),
    _time("answered_at"),
    # When the oldest message was written that still waits for a word of its author's.
    _time("waiting_at"),
    # When its author last did something there; when to look again although nothing happened; and
    # when a person of the team first looked at it.
    _time("author_at"),
    # When it was last opened again, and when it was last a draft no more.
    _time("again_at"),
    _time("ready_at"),
    _time("due_at"),
    _time("first_look_at"),
    Column("version", Integer, nullable=False, server_default=text("0")),
    Column("state", Text, nullable=False, server_default=text("'new'")),
    Column("fingerprint", Text, nullable=False, server_default=text("''")),
    _time("decided_at"),
    # Its place in the maintainers' queue (`core.queueing`): the lowest first.
    Column("queue_tier", SmallInteger, nullable=False, server_default=text("1")),
    Column("queue_order", Float, nullable=False, server_default=text("0")),
    # What we wrote there, by GitHub's ids.
    Column("status_comment_id", BigInteger),
    Column("question_comment_id", BigInteger),
    Column("label", Text),
    Column("check_run_id", BigInteger),
    Column("check_run_sha", Text),
    Column("notices", SmallInteger, nullable=False, server_default=text("0")),
    _time("closed_at"),
    _time("reopened_at"),
    UniqueConstraint("repository_id", "number"),
    Index("cases_author_idx", "repository_id", "author_id", "opened_at"),
    Index("cases_anywhere_idx", "author_id", "opened_at"),
    Index("cases_opened_idx", "repository_id", "opened_at"),
    Index("cases_due_idx", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("cases_decided_idx", "repository_id", text("decided_at DESC"), text("id DESC")),
    Index("cases_state_idx", "repository_id", "state", text("decided_at DESC"), text("id DESC")),
    Index(
        "cases_queue_idx",
        *("repository_id", "queue_tier", "queue_order", "id"),
        postgresql_where=text("pull_state = 'open' AND decided_at IS NOT NULL"),
    ),
)

challenges = Table(
    "challenges",
    metadata,
    # Where the request to show that somebody is there stands (`Challenge`), and what was asked about
    # the change (`Probe`). No row: not asked.
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("challenge", JSONB, nullable=False),
    Column("state", Text, nullable=False),
    Column("probe", JSONB),
)

answers = Table(
    "answers",
    metadata,
    # How soon an author answered: from the oldest message that waited, by GitHub's times. `touches`:
    # whether it touches what the gate asked about the change; None where that was not it.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("case_id", BigInteger, ForeignKey("cases.id"), nullable=False),
    _time("asked_at", nullable=False),
    _time("answered_at", nullable=False),
    Column("touches", Text),
    UniqueConstraint("case_id", "answered_at"),
)

case_issues = Table(
    "case_issues",
    metadata,
    # Which issues a pull request is for; `repository_id` is the issue's.
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Index("case_issues_issue_idx", "repository_id", "number"),
)

trust = Table(
    "trust",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("by_id", BigInteger, nullable=False),
    Column("by_login", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    _time("at", nullable=False),
    _time("until"),
    _time("ended_at"),
    # Of one account the newest row that has not ended counts.
    Index("trust_account_idx", "repository_id", "account_id", "id"),
    Index("trust_anywhere_idx", "account_id", "id"),
)

hands = Table(
    "hands",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("case_id", BigInteger, ForeignKey("cases.id"), nullable=False),
    Column("act", Text, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    _time("at", nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    UniqueConstraint("case_id", "act", "account_id", "at"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("case_id", BigInteger, ForeignKey("cases.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_at", DateTime(timezone=True), nullable=False),
    Column("probability", Float),
    Column("decision", JSONB, nullable=False),
    UniqueConstraint("case_id", "version"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("key", Text, nullable=False),
    Column("case_id", BigInteger, ForeignKey("cases.id")),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    # 0 for an effect that belongs to no pull request.
    Column("number", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("effect", JSONB, nullable=False),
    Column("decided_sha", Text, nullable=False),
    # The key of the effect that must be done before this one.
    Column("requires", Text),
    Column("state", Text, nullable=False),
    Column("attempts", SmallInteger, nullable=False, server_default=text("0")),
    _time("due_at", nullable=False),
    _time("lease_until"),
    _time("rung_at"),
    _time("attempted_at"),
    _time("ended_at"),
    Column("receipt", JSONB(none_as_null=True)),
    Column("reason", Text),
    _made(),
    UniqueConstraint("key"),
    Index(
        "outbox_pending_idx",
        "due_at",
        postgresql_where=text("state IN ('pending', 'doing')"),
    ),
    Index("outbox_pull_idx", "repository_id", "number", "id"),
    Index(
        "outbox_counted_idx",
        "state",
        postgresql_where=text("state IN ('pending', 'doing', 'failed')"),
    ),
    Index(
        "outbox_closed_idx",
        "repository_id",
        "ended_at",
        postgresql_where=text("kind = 'close' AND state = 'done'"),
    ),
    Index(
        "outbox_pace_idx",
        "installation_id",
        "attempted_at",
        postgresql_where=text("attempted_at IS NOT NULL"),
    ),
)

app_setup = Table(
    "app_setup",
    metadata,
    # One row: the App that `/setup` made. `nonce` makes the one-time token.
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("nonce", Text, nullable=False),
    Column("credentials", LargeBinary),
    Column("app_id", BigInteger),
    Column("slug", Text),
    Column("html_url", Text),
    _time("done_at"),
)

audit = Table(
    "audit",
    metadata,
    # Append only, by a trigger.
    Column("id", BigInteger, Identity(), primary_key=True),
    _time("at", nullable=False),
    Column("installation_id", BigInteger),
    Column("repository_id", BigInteger),
    Column("number", BigInteger),
    # A pseudonym, or what acted where no person did: "gate", "clock", "github".
    Column("actor", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("policy_version", Text),
    Column("detail", JSONB, nullable=False, server_default=text("'{}'")),
    Index("audit_repository_idx", "repository_id", "id"),
)

pseudonyms = Table(
    "pseudonyms",
    metadata,
    # Whom the audit log means; a row that is erased leaves a name that is nobody's.
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("login", Text, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    # What was spent of the day's budgets.
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("day", Date, primary_key=True),
    Column("resource", Text, primary_key=True),
    Column("tier", Text, primary_key=True),
    Column("used", BigInteger, nullable=False, server_default=text("0")),
)

simulations = Table(
    "simulations",
    metadata,
    # What would be decided under another configuration; asked for by `account_id`, 0 for nobody
    # that is signed in (recorded repositories only). Without `policy`: under the one in force.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("policy", JSONB(none_as_null=True)),
    _time("created_at", nullable=False),
    _time("rung_at"),
    _time("ended_at"),
    Column("decision", JSONB(none_as_null=True)),
    Column("error", Text),
    Index("simulations_created_idx", "created_at"),
)

rule_acts = Table(
    "rule_acts",
    metadata,
    # What a rule did on a pull request (`done`), or would have done (`rung`), at most; and whether
    # a person took it back. One row, however often it is decided anew.
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("rule", Text, primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    _time("at", nullable=False),
    Column("rung", SmallInteger, nullable=False),
    Column("done", SmallInteger, nullable=False),
    _time("overturned_at"),
    Column("overturned_by", Text),
    Index("rule_acts_repository_idx", "repository_id", "at"),
)

brakes = Table(
    "brakes",
    metadata,
    # The gate, or one rule, only observes until a person ends it.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("rule", Text),
    Column("cause", Text, nullable=False),
    Column("of", Integer, nullable=False),
    Column("out_of", Integer, nullable=False),
    _time("at", nullable=False),
    _time("ended_at"),
    Column("ended_by_id", BigInteger),
    Column("ended_by_login", Text),
    Index(
        "brakes_on_idx",
        "repository_id",
        text("coalesce(rule, '')"),
        unique=True,
        postgresql_where=text("ended_at IS NULL"),
    ),
)

appeals = Table(
    "appeals",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("case_id", BigInteger, ForeignKey("cases.id"), nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    _time("at", nullable=False),
    _time("deadline_at", nullable=False),
    # The author's words, and the login of who is asked to answer.
    Column("words", Text, nullable=False, server_default=text("''")),
    Column("named", Text),
    _time("ended_at"),
    Column("outcome", Text),
    Column("by_id", BigInteger),
    Column("by_login", Text),
    Index("appeals_case_idx", "case_id", "id"),
    Index("appeals_repository_idx", "repository_id", "at"),
)

undos = Table(
    "undos",
    metadata,
    # What was taken back in one go; `what` says it in words.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("what", Text, nullable=False, server_default=text("''")),
    Column("by_id", BigInteger, nullable=False),
    Column("by_login", Text, nullable=False),
    _time("at", nullable=False),
    # When it was taken back itself.
    _time("ended_at"),
    Index("undos_repository_idx", "repository_id", "id"),
)

undo_cases = Table(
    "undo_cases",
    metadata,
    # `version`: of the last decision before it.
    Column("undo_id", BigInteger, ForeignKey("undos.id"), primary_key=True, autoincrement=False),
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
)

campaigns = Table(
    "campaigns",
    metadata,
    # Pull requests that belong to one flood: by one author, or nearly the same by several.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("author_id", BigInteger),
    _time("first_at", nullable=False),
    _time("last_at", nullable=False),
    Index("campaigns_repository_idx", "repository_id", "last_at"),
)

campaign_members = Table(
    "campaign_members",
    metadata,
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("campaign_id", BigInteger, ForeignKey("campaigns.id"), nullable=False),
    # Named one by one by a person, although it would be spared.
    Column("named", Boolean, nullable=False, server_default=text("false")),
    Index("campaign_members_campaign_idx", "campaign_id"),
)

campaign_words = Table(
    "campaign_words",
    metadata,
    # What a maintainer decided of a campaign; the newest that has not ended counts.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("campaign_id", BigInteger, ForeignKey("campaigns.id"), nullable=False),
    Column("word", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=text("''")),
    Column("by_id", BigInteger, nullable=False),
    Column("by_login", Text, nullable=False),
    _time("at", nullable=False),
    _time("ended_at"),
    Column("ended_by_login", Text),
    Index("campaign_words_campaign_idx", "campaign_id", "id"),
)

likenesses = Table(
    "likenesses",
    metadata,
    # MinHash of the words and of the changes of a pull request, and the bands that near-duplicates
    # have in common (`app.adapters.minhash`).
    Column("case_id", BigInteger, ForeignKey("cases.id"), primary_key=True, autoincrement=False),
    Column("words", LargeBinary),
    Column("changes", LargeBinary),
    Column("bands", ARRAY(Integer), nullable=False),
    Index("likenesses_bands_idx", "bands", postgresql_using="gin"),
)

account_notes = Table(
    "account_notes",
    metadata,
    # For moderators alone.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("words", Text, nullable=False),
    Column("by_id", BigInteger, nullable=False),
    Column("by_login", Text, nullable=False),
    _time("at", nullable=False),
    Index("account_notes_account_idx", "repository_id", "account_id", "id"),
)

proof_tokens = Table(
    "proof_tokens",
    metadata,
    # What was given out and may come back: only hashes of it, of the code, and of the address.
    Column("token_hash", Text, primary_key=True),
    Column("account_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    # Whether the proof is to count in all repositories of the installation.
    Column("shared", Boolean, nullable=False, server_default=text("false")),
    Column("purpose", Text, nullable=False),
    Column("code_hash", Text),
    Column("address_hash", Text),
    Column("domain_hash", Text),
    Column("tier", Text),
    _time("at", nullable=False),
    _time("expires_at", nullable=False),
    _time("used_at"),
    Column("attempts", SmallInteger, nullable=False, server_default=text("0")),
    # Where the repository keeps domains for a time: until the token was used or its time is over.
    Column("domain", Text),
    Index("proof_tokens_account_idx", "account_id", "at"),
    Index("proof_tokens_address_idx", "address_hash", "at"),
    Index("proof_tokens_expires_idx", "expires_at"),
)

proofs = Table(
    "proofs",
    metadata,
    # That somebody is there: keyed hashes of the address and of its domain, and the domain's class.
    # Without `repository_id` it counts in the whole installation.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("account_id", BigInteger, nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger),
    Column("way", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("address_hash", Text, nullable=False),
    Column("domain_hash", Text, nullable=False),
    # What SPF said of the mail that it came by: "" where there is none, or nobody knows.
    Column("spf", Text, nullable=False, server_default=text("''")),
    _time("at", nullable=False),
    _time("until", nullable=False),
    _time("revoked_at"),
    Index("proofs_account_idx", "account_id", "installation_id"),
    Index("proofs_address_idx", "address_hash"),
    Index("proofs_domain_idx", "domain_hash"),
)

proof_domains = Table(
    "proof_domains",
    metadata,
    # The domain of a proven address, for the maintainers of the repository that asks for it.
    Column(
        "proof_id",
        BigInteger,
        ForeignKey("proofs.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("account_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("domain", Text, nullable=False),
    _time("until", nullable=False),
    Index("proof_domains_account_idx", "account_id", "repository_id"),
)

proof_tries = Table(
    "proof_tries",
    metadata,
    # Mails asked for and codes typed wrong: `whose` is a keyed hash of what is counted and of the
    # account, address or network.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("whose", Text, nullable=False),
    _time("at", nullable=False),
    Index("proof_tries_whose_idx", "whose", "at"),
    Index("proof_tries_at_idx", "at"),
)

letters = Table(
    "letters",
    metadata,
    # Mails that came in, by their digest, so that none counts twice; and what came of each.
    Column("digest", Text, primary_key=True),
    _time("at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("spf", Text, nullable=False, server_default=text("''")),
    Index("letters_at_idx", "at"),
)

mails = Table(
    "mails",
    metadata,
    # To be sent: address and text, sealed, until it was sent or given up.
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("sealed", LargeBinary),
    _time("created_at", nullable=False),
    _time("due_at", nullable=False),
    _time("rung_at"),
    _time("sent_at"),
    Column("attempts", SmallInteger, nullable=False, server_default=text("0")),
    Column("last_error", Text),
    # Whose it is, and the token that it brings.
    Column("account_id", BigInteger),
    Column("repository_id", BigInteger),
    Column("tier", Text),
    Column("token_hash", Text),
    # Goes the way of all others and is not sent, since its address got as many as it may.
    Column("muted", Boolean, nullable=False, server_default=text("false")),
    _time("held_until"),
    Column("failure", Text),
    Index("mails_due_idx", "due_at", postgresql_where=text("sealed IS NOT NULL")),
    Index(
        "mails_account_idx",
        "account_id",
        "repository_id",
        "id",
        postgresql_where=text("account_id IS NOT NULL"),
    ),
)

sessions = Table(
    "sessions",
    metadata,
    # SHA-256 of the cookie's value, hexadecimal.
    Column("id_hash", Text, primary_key=True),
    Column("account_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    _made(),
    _time("seen_at", nullable=False),
    _time("expires_at", nullable=False),
    _time("revoked_at"),
    Index("sessions_account_idx", "account_id"),
)

bookmarks = Table(
    "bookmarks",
    metadata,
    # How far a periodic read of GitHub got.
    Column("name", Text, primary_key=True),
    _time("at", nullable=False),
)
