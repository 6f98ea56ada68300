"""what SPF said of the mail that a proof came by

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("proofs", sa.Column("spf", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("proofs", "spf")
