"""less room: payloads in a table of their own, what is planned kept once

No release had what is dropped here, so that it need not wait for the one after.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_PAYLOAD_INDEX = sa.text("payload IS NOT NULL AND handled_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "payloads",
        sa.Column("inbox_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name=op.f("payloads_inbox_id_fkey")),
        sa.PrimaryKeyConstraint("inbox_id", name=op.f("payloads_pkey")),
    )
    # Packed already: PostgreSQL need not try.
    op.execute("ALTER TABLE payloads ALTER COLUMN body SET STORAGE EXTERNAL")
    op.execute("INSERT INTO payloads SELECT id, payload FROM inbox WHERE payload IS NOT NULL")
    op.drop_index("inbox_payload_idx", table_name="inbox")
    op.drop_column("inbox", "payload")
    # It is in the decision of the case's version.
    op.drop_column("cases", "planned")


def downgrade() -> None:
    op.add_column(
        "cases",
        sa.Column("planned", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )
    op.execute(
        "UPDATE cases c SET planned = d.decision->'planned' FROM decisions d"
        " WHERE d.case_id = c.id AND d.version = c.version"
    )
    op.add_column("inbox", sa.Column("payload", sa.LargeBinary()))
    op.execute("UPDATE inbox i SET payload = p.body FROM payloads p WHERE p.inbox_id = i.id")
    op.create_index(
        "inbox_payload_idx", "inbox", ["handled_at"], postgresql_where=_PAYLOAD_INDEX
    )
    op.drop_table("payloads")
