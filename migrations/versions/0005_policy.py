"""policy: the ladder's clock, linked issues, trust, the organisation's default, audit, usage

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _time(name, *, nullable=True):
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    for name in ("author_at", "question_at", "due_at", "first_look_at"):
        op.add_column("cases", _time(name))
    op.add_column("cases", sa.Column("question_hours", sa.SmallInteger()))
    op.create_index(
        "cases_due_idx", "cases", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_index("cases_anywhere_idx", "cases", ["author_id", "opened_at"])
    op.create_index("cases_opened_idx", "cases", ["repository_id", "opened_at"])
    for name, kind in (
        ("policy", postgresql.JSONB(none_as_null=True)),
        ("policy_sha", sa.Text()),
        ("policy_error", sa.Text()),
        ("policy_read_at", sa.DateTime(timezone=True)),
    ):
        op.add_column("installations", sa.Column(name, kind))
    # What the repository's own file says, before the organisation's default is put below it.
    op.add_column("repositories", sa.Column("policy_own", postgresql.JSONB(none_as_null=True)))
    op.add_column("repositories", sa.Column("policy_own_sha", sa.Text()))
    # What is in force until the file is read again is also the last good that is known of it.
    op.execute("UPDATE repositories SET policy_own = policy, policy_own_sha = policy_sha")
    # The default was never read: each repository's file is read anew, and the default before it.
    op.execute("UPDATE repositories SET policy_read_at = NULL")
    op.create_table(
        "case_issues",
        sa.Column("case_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"], name=op.f("case_issues_case_id_fkey")),
        sa.PrimaryKeyConstraint("case_id", "repository_id", "number", name=op.f("case_issues_pkey")),
    )
    op.create_index("case_issues_issue_idx", "case_issues", ["repository_id", "number"])
    op.create_table(
        "trust",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("by_id", sa.BigInteger(), nullable=False),
        sa.Column("by_login", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        _time("at", nullable=False),
        _time("until"),
        _time("ended_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("trust_pkey")),
    )
    op.create_index("trust_account_idx", "trust", ["repository_id", "account_id", "id"])
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        _time("at", nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=True),
        sa.Column("repository_id", sa.BigInteger(), nullable=True),
        sa.Column("number", sa.BigInteger(), nullable=True),
        # A pseudonym, or what acted where no person did: "gate", "clock", "github".
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=True),
        sa.Column(
            "detail", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("audit_pkey")),
    )
    op.create_index("audit_repository_idx", "audit", ["repository_id", "id"])
    # Append only, also for whoever connects as the owner of the tables and means well.
    op.execute(
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'the audit log is append only'; END$$"
    )
    op.execute(
        "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
    )
    op.create_table(
        "pseudonyms",
        sa.Column("account_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pseudonyms_pkey")),
        sa.UniqueConstraint("name", name=op.f("pseudonyms_name_key")),
    )
    op.create_table(
        "usage",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("used", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint(
            "repository_id", "day", "resource", "tier", name=op.f("usage_pkey")
        ),
    )
    op.create_table(
        "simulations",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("policy", postgresql.JSONB(none_as_null=True), nullable=True),
        _time("created_at", nullable=False),
        _time("rung_at"),
        _time("ended_at"),
        sa.Column("decision", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("simulations_pkey")),
    )
    op.create_index("simulations_created_idx", "simulations", ["created_at"])


def downgrade() -> None:
    for table in ("simulations", "usage", "pseudonyms", "audit", "trust", "case_issues"):
        op.drop_table(table)
    op.execute("DROP FUNCTION audit_is_append_only()")
    op.drop_column("repositories", "policy_own_sha")
    op.drop_column("repositories", "policy_own")
    for name in ("policy_read_at", "policy_error", "policy_sha", "policy"):
        op.drop_column("installations", name)
    op.drop_index("cases_opened_idx", table_name="cases")
    op.drop_index("cases_anywhere_idx", table_name="cases")
    op.drop_index("cases_due_idx", table_name="cases")
    for name in ("question_hours", "first_look_at", "due_at", "question_at", "author_at"):
        op.drop_column("cases", name)
