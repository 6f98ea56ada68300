"""Boosted trees evaluated in plain Python, and what each feature moved."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Tree(NamedTuple):
    """One binary tree as parallel lists; `feature[i]` is -1 for a leaf.

    At a node the way is left where the feature's value is at most `threshold`. `value` is in
    log-odds, at inner nodes the mean of what lies below.
    """

    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]
    value: Sequence[float]


class Trees(NamedTuple):
    """A sum of trees over named features."""

    features: tuple[str, ...]
    base: float
    trees: tuple[Tree, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trees":
        """As `to_json` wrote it. `ValueError` where a tree leads out of itself."""
        trees = tuple(Tree(*columns) for columns in data["trees"])
        for tree in trees:
            _check(tree, len(data["features"]))
        return cls(tuple(data["features"]), float(data["base"]), trees)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {
            "features": list(self.features),
            "base": self.base,
            "trees": [list(map(list, tree)) for tree in self.trees],
        }

    def score(self, values: Sequence[float]) -> float:
        """Log-odds of one row; `values` are in the order of `features`."""
        total = self.base
        for feature, threshold, left, right, value in self.trees:
            node = 0
            while (index := feature[node]) >= 0:
                node = left[node] if values[index] <= threshold[node] else right[node]
            total += value[node]
        return total

    def moved(self, values: Sequence[float]) -> dict[str, float]:
        """How far each feature moved the score along its paths (Saabas 2014); they add up to it."""
        found = [0.0] * len(self.features)
        for feature, threshold, left, right, value in self.trees:
            node, before = 0, value[0]
            while (index := feature[node]) >= 0:
                node = left[node] if values[index] <= threshold[node] else right[node]
                after = value[node]
                found[index] += after - before
                before = after
        return {name: moved for name, moved in zip(self.features, found, strict=True) if moved}


def _check(tree: Tree, features: int) -> None:
    nodes = len(tree.feature)
    if len({len(column) for column in tree}) != 1 or not nodes:
        raise ValueError("a tree's columns differ in length")
    for at, index in enumerate(tree.feature):
        if index >= features:
            raise ValueError("a tree asks for a feature that is not there")
        # Children stand behind their parent, so that every path ends.
        if index >= 0 and not (at < tree.left[at] < nodes and at < tree.right[at] < nodes):
            raise ValueError("a tree leads out of itself")
