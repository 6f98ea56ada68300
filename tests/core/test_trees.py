"""Trees: the sum of their leaves, what each feature moved, and no way out of them."""

import pytest

from app.core.trees import Tree, Trees

ONE = Tree(
    feature=[0, 1, -1, -1, -1],
    threshold=[0.5, 2.0, 0, 0, 0],
    left=[1, 2, 0, 0, 0],
    right=[4, 3, 0, 0, 0],
    value=[0.0, -0.5, -1.0, 0.25, 2.0],
)
TREES = Trees(("a", "b"), 0.1, (ONE, ONE))


@pytest.mark.parametrize(("row", "score"), [([0, 2], -1.9), ([0.5, 2.1], 0.6), ([0.6, 0], 4.1)])
def test_a_row_ends_in_a_leaf_and_what_moved_adds_up(row: list[float], score: float) -> None:
    assert TREES.score(row) == pytest.approx(score)
    assert 0.1 + sum(TREES.moved(row).values()) == pytest.approx(score)
    assert Trees.from_json(TREES.to_json()).score(row) == TREES.score(row)


@pytest.mark.parametrize(
    "broken",
    [
        ONE._replace(left=[0, 2, 0, 0, 0]),
        ONE._replace(right=[5, 3, 0, 0, 0]),
        ONE._replace(feature=[2, 1, -1, -1, -1]),
        ONE._replace(value=[1.0]),
        Tree([], [], [], [], []),
    ],
)
def test_a_tree_that_would_not_end_is_refused(broken: Tree) -> None:
    with pytest.raises(ValueError, match="a tree"):
        Trees.from_json(TREES._replace(trees=(broken,)).to_json())
