"""proofs of life: tokens, proofs, letters that came in, mails to be sent

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _time(name, *, nullable=True):
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _big(name, *, nullable=False):
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=nullable)


def upgrade() -> None:
    op.add_column("cases", _time("first_answer_at"))
    op.create_table(
        "proof_tokens",
        sa.Column("token_hash", sa.Text(), nullable=False),
        _big("account_id"),
        sa.Column("login", sa.Text(), nullable=False),
        _big("installation_id"),
        _big("repository_id"),
        sa.Column("shared", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=True),
        sa.Column("address_hash", sa.Text(), nullable=True),
        sa.Column("domain_hash", sa.Text(), nullable=True),
        sa.Column("tier", sa.Text(), nullable=True),
        _time("at", nullable=False),
        _time("expires_at", nullable=False),
        _time("used_at"),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("proof_tokens_pkey")),
    )
    op.create_index("proof_tokens_account_idx", "proof_tokens", ["account_id", "at"])
    op.create_index("proof_tokens_address_idx", "proof_tokens", ["address_hash", "at"])
    op.create_index("proof_tokens_expires_idx", "proof_tokens", ["expires_at"])
    op.create_table(
        "proofs",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        _big("account_id"),
        _big("installation_id"),
        _big("repository_id", nullable=True),
        sa.Column("way", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("address_hash", sa.Text(), nullable=False),
        sa.Column("domain_hash", sa.Text(), nullable=False),
        _time("at", nullable=False),
        _time("until", nullable=False),
        _time("revoked_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("proofs_pkey")),
    )
    op.create_index("proofs_account_idx", "proofs", ["account_id", "installation_id"])
    op.create_index("proofs_address_idx", "proofs", ["address_hash"])
    op.create_index("proofs_domain_idx", "proofs", ["domain_hash"])
    op.create_table(
        "letters",
        sa.Column("digest", sa.Text(), nullable=False),
        _time("at", nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("spf", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("letters_pkey")),
    )
    op.create_index("letters_at_idx", "letters", ["at"])
    op.create_table(
        "mails",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        _time("created_at", nullable=False),
        _time("due_at", nullable=False),
        _time("rung_at"),
        _time("sent_at"),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("mails_pkey")),
    )
    op.create_index(
        "mails_due_idx", "mails", ["due_at"], postgresql_where=sa.text("sealed IS NOT NULL")
    )


def downgrade() -> None:
    for table in ("mails", "letters", "proofs", "proof_tokens"):
        op.drop_table(table)
    op.drop_column("cases", "first_answer_at")
