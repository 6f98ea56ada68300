"""indexes for pages and metrics

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "cases_state_idx",
        "cases",
        ["repository_id", "state", sa.literal_column("decided_at DESC"), sa.literal_column("id DESC")],
    )
    op.create_index(
        "outbox_counted_idx",
        "outbox",
        ["state"],
        postgresql_where=sa.text("state IN ('pending', 'doing', 'failed')"),
    )
    op.create_index("sessions_account_idx", "sessions", ["account_id"])


def downgrade() -> None:
    op.drop_index("sessions_account_idx", table_name="sessions")
    op.drop_index("outbox_counted_idx", table_name="outbox")
    op.drop_index("cases_state_idx", table_name="cases")
