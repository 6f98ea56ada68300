"""tries that are limited, what became of mails, and domains kept for a time

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def _time(name, *, nullable=True):
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _big(name, *, nullable=False):
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=nullable)


def _of_mails():
    """Without them it is a mail of an earlier release, of whose owner nothing is known."""
    return (
        _big("account_id", nullable=True),
        _big("repository_id", nullable=True),
        sa.Column("tier", sa.Text(), nullable=True),
        sa.Column("token_hash", sa.Text(), nullable=True),
        sa.Column("muted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        _time("held_until"),
        sa.Column("failure", sa.Text(), nullable=True),
    )


def upgrade() -> None:
    op.create_table(
        "proof_tries",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("whose", sa.Text(), nullable=False),
        _time("at", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("proof_tries_pkey")),
    )
    op.create_index("proof_tries_whose_idx", "proof_tries", ["whose", "at"])
    op.create_index("proof_tries_at_idx", "proof_tries", ["at"])
    for column in _of_mails():
        op.add_column("mails", column)
    op.create_index(
        "mails_account_idx",
        "mails",
        ["account_id", "repository_id", "id"],
        postgresql_where=sa.text("account_id IS NOT NULL"),
    )
    op.add_column("proof_tokens", sa.Column("domain", sa.Text(), nullable=True))
    op.create_table(
        "proof_domains",
        sa.Column(
            "proof_id",
            sa.BigInteger(),
            sa.ForeignKey(
                "proofs.id", name=op.f("proof_domains_proof_id_fkey"), ondelete="CASCADE"
            ),
            autoincrement=False,
            nullable=False,
        ),
        _big("account_id"),
        _big("repository_id"),
        sa.Column("domain", sa.Text(), nullable=False),
        _time("until", nullable=False),
        sa.PrimaryKeyConstraint("proof_id", name=op.f("proof_domains_pkey")),
    )
    op.create_index("proof_domains_account_idx", "proof_domains", ["account_id", "repository_id"])


def downgrade() -> None:
    op.drop_table("proof_domains")
    op.drop_column("proof_tokens", "domain")
    op.drop_index("mails_account_idx", table_name="mails")
    for column in reversed(_of_mails()):
        op.drop_column("mails", column.name)
    op.drop_table("proof_tries")
