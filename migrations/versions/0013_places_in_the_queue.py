"""each pull request's place in the maintainers' queue

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Those decided before stand among the unknown until they are decided anew.
    op.add_column(
        "cases",
        sa.Column("queue_tier", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
    )
    op.add_column(
        "cases", sa.Column("queue_order", sa.Float(), server_default=sa.text("0"), nullable=False)
    )
    op.create_index(
        "cases_queue_idx",
        "cases",
        ["repository_id", "queue_tier", "queue_order", "id"],
        postgresql_where=sa.text("pull_state = 'open' AND decided_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("cases_queue_idx", table_name="cases")
    op.drop_column("cases", "queue_order")
    op.drop_column("cases", "queue_tier")
