"""what SPF said of the mail that a proof came by

Revision ID: 0013
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("proofs", sa.Column("spf", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("proofs", "spf")
