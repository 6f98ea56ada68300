"""when a pull request took its place, and the question and the label that stand on it

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


# What stands on each pull request by the last act of a kind that was carried out.
_LAST_DONE = """
    UPDATE cases SET {set}
    FROM (
        SELECT DISTINCT ON (repository_id, number) repository_id, number, effect, receipt
        FROM outbox WHERE kind = '{kind}' AND state = 'done'
        ORDER BY repository_id, number, id DESC
    ) AS last
    WHERE last.repository_id = cases.repository_id AND last.number = cases.number AND {more}
"""


def upgrade() -> None:
    op.add_column("cases", sa.Column("again_at", sa.DateTime(timezone=True)))
    op.add_column("cases", sa.Column("ready_at", sa.DateTime(timezone=True)))
    op.add_column("cases", sa.Column("question_comment_id", sa.BigInteger()))
    op.add_column("cases", sa.Column("label", sa.Text()))
    op.execute(_LAST_DONE.format(set="label = last.effect->>'name'", kind="label", more="(last.effect->>'present')::bool"))
    op.execute(
        _LAST_DONE.format(
            set="question_comment_id = (last.receipt->>'id')::bigint",
            kind="ask_comment",
            more="cases.question_at IS NOT NULL",
        )
    )


def downgrade() -> None:
    op.drop_column("cases", "label")
    op.drop_column("cases", "question_comment_id")
    op.drop_column("cases", "ready_at")
    op.drop_column("cases", "again_at")
