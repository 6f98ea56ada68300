"""due process: acts of rules, brakes, appeals, undos, campaigns, likeness, notes on accounts

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _time(name, *, nullable=True):
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _id():
    return sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False)


def _big(name, *, nullable=False):
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=nullable)


def _text(name, *, nullable=False, default=None):
    return sa.Column(name, sa.Text(), nullable=nullable, server_default=default)


def _case(table):
    return sa.ForeignKeyConstraint(["case_id"], ["cases.id"], name=op.f(f"{table}_case_id_fkey"))


def upgrade() -> None:
    op.create_index(
        "outbox_closed_idx",
        "outbox",
        ["repository_id", "ended_at"],
        postgresql_where=sa.text("kind = 'close' AND state = 'done'"),
    )
    op.add_column("hands", _text("reason", default=sa.text("''")))
    op.create_index("trust_anywhere_idx", "trust", ["account_id", "id"])
    op.create_table(
        "rule_acts",
        _big("case_id"),
        _text("rule"),
        _big("repository_id"),
        _time("at", nullable=False),
        sa.Column("rung", sa.SmallInteger(), nullable=False),
        sa.Column("done", sa.SmallInteger(), nullable=False),
        _time("overturned_at"),
        _text("overturned_by", nullable=True),
        _case("rule_acts"),
        sa.PrimaryKeyConstraint("case_id", "rule", name=op.f("rule_acts_pkey")),
    )
    op.create_index("rule_acts_repository_idx", "rule_acts", ["repository_id", "at"])
    op.create_table(
        "brakes",
        _id(),
        _big("repository_id"),
        _text("rule", nullable=True),
        _text("cause"),
        sa.Column("of", sa.Integer(), nullable=False),
        sa.Column("out_of", sa.Integer(), nullable=False),
        _time("at", nullable=False),
        _time("ended_at"),
        _big("ended_by_id", nullable=True),
        _text("ended_by_login", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("brakes_pkey")),
    )
    op.create_index(
        "brakes_on_idx",
        "brakes",
        ["repository_id", sa.text("coalesce(rule, '')")],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "appeals",
        _id(),
        _big("case_id"),
        _big("repository_id"),
        _time("at", nullable=False),
        _time("deadline_at", nullable=False),
        _text("words", default=sa.text("''")),
        _text("named", nullable=True),
        _time("ended_at"),
        _text("outcome", nullable=True),
        _big("by_id", nullable=True),
        _text("by_login", nullable=True),
        _case("appeals"),
        sa.PrimaryKeyConstraint("id", name=op.f("appeals_pkey")),
    )
    op.create_index("appeals_case_idx", "appeals", ["case_id", "id"])
    op.create_index("appeals_repository_idx", "appeals", ["repository_id", "at"])
    op.create_table(
        "undos",
        _id(),
        _big("repository_id"),
        _text("what", default=sa.text("''")),
        _big("by_id"),
        _text("by_login"),
        _time("at", nullable=False),
        _time("ended_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("undos_pkey")),
    )
    op.create_index("undos_repository_idx", "undos", ["repository_id", "id"])
    op.create_table(
        "undo_cases",
        _big("undo_id"),
        _big("case_id"),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["undo_id"], ["undos.id"], name=op.f("undo_cases_undo_id_fkey")),
        _case("undo_cases"),
        sa.PrimaryKeyConstraint("undo_id", "case_id", name=op.f("undo_cases_pkey")),
    )
    op.create_table(
        "campaigns",
        _id(),
        _big("repository_id"),
        _text("kind"),
        _big("author_id", nullable=True),
        _time("first_at", nullable=False),
        _time("last_at", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("campaigns_pkey")),
    )
    op.create_index("campaigns_repository_idx", "campaigns", ["repository_id", "last_at"])
    op.create_table(
        "campaign_members",
        _big("case_id"),
        _big("campaign_id"),
        # Named one by one by a person, although it would be spared.
        sa.Column("named", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        _case("campaign_members"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("campaign_members_campaign_id_fkey")
        ),
        sa.PrimaryKeyConstraint("case_id", name=op.f("campaign_members_pkey")),
    )
    op.create_index("campaign_members_campaign_idx", "campaign_members", ["campaign_id"])
    op.create_table(
        "campaign_words",
        _id(),
        _big("campaign_id"),
        _text("word"),
        _text("reason", default=sa.text("''")),
        _big("by_id"),
        _text("by_login"),
        _time("at", nullable=False),
        _time("ended_at"),
        _text("ended_by_login", nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("campaign_words_campaign_id_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("campaign_words_pkey")),
    )
    op.create_index("campaign_words_campaign_idx", "campaign_words", ["campaign_id", "id"])
    op.create_table(
        "likenesses",
        _big("case_id"),
        sa.Column("words", sa.LargeBinary(), nullable=True),
        sa.Column("changes", sa.LargeBinary(), nullable=True),
        sa.Column("bands", postgresql.ARRAY(sa.Integer()), nullable=False),
        _case("likenesses"),
        sa.PrimaryKeyConstraint("case_id", name=op.f("likenesses_pkey")),
    )
    op.create_index("likenesses_bands_idx", "likenesses", ["bands"], postgresql_using="gin")
    op.create_table(
        "account_notes",
        _id(),
        _big("repository_id"),
        _big("account_id"),
        _text("words"),
        _big("by_id"),
        _text("by_login"),
        _time("at", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("account_notes_pkey")),
    )
    op.create_index(
        "account_notes_account_idx", "account_notes", ["repository_id", "account_id", "id"]
    )


def downgrade() -> None:
    for table in (
        "account_notes",
        "likenesses",
        "campaign_words",
        "campaign_members",
        "campaigns",
        "undo_cases",
        "undos",
        "appeals",
        "brakes",
        "rule_acts",
    ):
        op.drop_table(table)
    op.drop_index("trust_anywhere_idx", table_name="trust")
    op.drop_column("hands", "reason")
    op.drop_index("outbox_closed_idx", table_name="outbox")
