"""where each challenge stands, and how soon authors answered

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def _time(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


# A question that stood, with its window; over is what the author did nothing in.
_QUESTIONS = """
    INSERT INTO challenges (case_id, challenge, state)
    SELECT id, jsonb_strip_nulls(jsonb_build_object(
        'account_id', coalesce(author_id, 0),
        'questions', CASE WHEN question_comment_id IS NULL THEN '[]'::jsonb
            ELSE jsonb_build_array(question_comment_id) END,
        'since', CASE WHEN answered THEN NULL ELSE question_at END,
        'answered_at', CASE WHEN answered THEN author_at END,
        'due_at', CASE WHEN NOT answered AND question_hours > 0
            THEN question_at + make_interval(hours => question_hours) END
    )), CASE WHEN answered THEN 'answered' ELSE 'asked' END
    FROM (SELECT *, coalesce(author_at > question_at, false) AS answered FROM cases) AS c
    WHERE question_at IS NOT NULL
"""
_ANSWERS = """
    INSERT INTO answers (case_id, asked_at, answered_at)
    SELECT id, asked_at, first_answer_at FROM cases
    WHERE asked_at IS NOT NULL AND first_answer_at IS NOT NULL
"""
_BACK = """
    UPDATE cases SET question_at = (challenge->>'since')::timestamptz,
        question_hours = coalesce(extract(epoch FROM
            (challenge->>'due_at')::timestamptz - (challenge->>'since')::timestamptz) / 3600, 0)
    FROM challenges WHERE case_id = cases.id
"""
_ANSWERS_BACK = """
    UPDATE cases SET first_answer_at = first.at
    FROM (SELECT case_id, min(answered_at) AS at FROM answers GROUP BY case_id) AS first
    WHERE first.case_id = cases.id
"""


def upgrade() -> None:
    op.create_table(
        "challenges",
        sa.Column(
            "case_id",
            sa.BigInteger(),
            sa.ForeignKey("cases.id"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("challenge", JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("probe", JSONB()),
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.BigInteger(), sa.Identity(), primary_key=True),
        sa.Column("case_id", sa.BigInteger(), sa.ForeignKey("cases.id"), nullable=False),
        _time("asked_at", nullable=False),
        _time("answered_at", nullable=False),
        sa.Column("touches", sa.Text()),
        sa.UniqueConstraint("case_id", "answered_at"),
    )
    op.add_column("cases", _time("waiting_at"))
    op.execute(_QUESTIONS)
    op.execute(_ANSWERS)
    op.drop_column("cases", "question_at")
    op.drop_column("cases", "question_hours")
    op.drop_column("cases", "first_answer_at")


def downgrade() -> None:
    op.add_column("cases", _time("question_at"))
    op.add_column("cases", sa.Column("question_hours", sa.SmallInteger()))
    op.add_column("cases", _time("first_answer_at"))
    op.execute(_BACK)
    op.execute(_ANSWERS_BACK)
    op.drop_column("cases", "waiting_at")
    op.drop_table("answers")
    op.drop_table("challenges")
