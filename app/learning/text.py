"""Training of the text model: word groups and trees, weighed together, calibrated, with its bands."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from app.core.plain import plain
from app.core.shape import SHAPE_VERSION, shape, style
from app.core.textmodel import GROUP, LEAST_CHARACTERS, TEXT_FORMAT, Bands, Stack, ngrams
from app.core.trees import Tree, Trees
from app.learning.tables import Bools, Floats, Pulls, texts

SEEDS = (0, 1)
LEAST_DOCUMENTS = 5
LEAST_REPOSITORIES = 3
# Word groups that the trees read beside the shape.
TREE_GROUPS = 300
# What the words' log-odds weigh beside the trees': they are the larger numbers.
WORDS_SHARE = 1 / 3
# Weight of a person who uses an agent as well: some of those rows were written by it.
MIXED = 0.3
Tell = Callable[[str], None]
Ints = NDArray[np.int64]


class Matrix(NamedTuple):
    """Texts as numbers: counts of word groups (sparse), shape (dense), and whether each is short."""

    counts: sparse.csr_matrix
    groups: tuple[str, ...]
    shape: Floats
    names: tuple[str, ...]
    short: Bools

    def take(self, at: NDArray[Any]) -> "Matrix":
        """Some rows."""
        return self._replace(counts=self.counts[at], shape=self.shape[at], short=self.short[at])


def matrix(pulls: Pulls, *, with_style: bool = False) -> Matrix:
    """Features of all rows. A word group must stand in several texts and several repositories.

    That leaves out what identifies one project, and no sentence of anybody ends up in the model.
    """
    plains = [plain(title, body) for title, body in texts(pulls.rows)]
    counted = [ngrams(text) for text in plains]
    documents: Counter[str] = Counter()
    for one in counted:
        documents.update(one.keys())
    often = {group for group, n in documents.items() if n >= LEAST_DOCUMENTS}
    homes: dict[str, set[str]] = {group: set() for group in often}
    for one, home in zip(counted, pulls.repository, strict=True):
        for group in one.keys() & often:
            if len(homes[group]) < LEAST_REPOSITORIES:
                homes[group].add(str(home))
    groups = tuple(sorted(g for g, places in homes.items() if len(places) >= LEAST_REPOSITORIES))
    place = {group: i for i, group in enumerate(groups)}
    indptr, indices, values = [0], [], []
    for one in counted:
        here = sorted((place[g], n) for g, n in one.items() if g in place)
        indices += [i for i, _ in here]
        values += [1 + math.log(n) for _, n in here]
        indptr.append(len(indices))
    shapes = [{**shape(t), **(style(t) if with_style else {})} for t in plains]
    names = tuple(sorted(shapes[0])) if shapes else ()
    return Matrix(
        counts=sparse.csr_matrix(
            (np.array(values), np.array(indices, dtype=np.int32), np.array(indptr)),
            shape=(len(plains), len(groups)),
        ),
        groups=groups,
        shape=np.array([[s[n] for n in names] for s in shapes], dtype=np.float64),
        names=names,
        short=np.array([len(t.body) < LEAST_CHARACTERS for t in plains], dtype=np.bool_),
    )


def weights(pulls: Pulls) -> Floats:
    """Weights of rows: repositories by the root of their size, classes the same, doubtful ones less."""
    homes = Counter(zip(pulls.repository, pulls.label, strict=True))
    found = np.array(
        [homes[pair] ** -0.5 for pair in zip(pulls.repository, pulls.label, strict=True)]
    )
    found[pulls.mixed] *= MIXED
    for label in (0, 1):
        here = pulls.label == label
        if here.any():
            found[here] *= 0.5 * len(found) / found[here].sum()
    return np.asarray(found, dtype=np.float64)


class WordPart(NamedTuple):
    """Logistic regression on TF-IDF of unit length. `columns` are those of the matrix's groups."""

    columns: Ints
    idf: Floats
    coefficients: Floats
    intercept: float

    def score(self, m: Matrix) -> Floats:
        """Log-odds of each row."""
        tfidf = _unit(m.counts[:, self.columns].multiply(self.idf).tocsr())
        return np.asarray(tfidf @ self.coefficients + self.intercept, dtype=np.float64)


def _unit(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    norms[norms == 0] = 1.0
    return sparse.diags(1 / norms) @ rows


def fit_words(m: Matrix, label: Ints, weight: Floats) -> WordPart:
    """The words' part. L-BFGS from zero: the same rows give the same weights."""
    documents = np.asarray((m.counts > 0).sum(axis=0)).ravel()
    columns = np.flatnonzero(documents >= LEAST_DOCUMENTS)
    idf = np.log((1 + len(label)) / (1 + documents[columns])) + 1
    tfidf = _unit(m.counts[:, columns].multiply(idf).tocsr())
    model = LogisticRegression(C=30, max_iter=400, tol=1e-3).fit(tfidf, label, sample_weight=weight)
    return WordPart(columns, idf, model.coef_[0], float(model.intercept_[0]))


def fit_trees(
    values: Floats, names: tuple[str, ...], label: Ints, weight: Floats, **changed: Any
) -> Trees:
    """Boosted trees (one forest for each seed, averaged) in the form that core evaluates."""
    settings: dict[str, Any] = {
        "max_iter": 300,
        "learning_rate": 0.06,
        "max_leaf_nodes": 12,
        "min_samples_leaf": 15,
        "l2_regularization": 3,
        "max_features": 0.3,
        "early_stopping": False,
        **changed,
    }
    base, trees = 0.0, []
    for seed in SEEDS:
        model = HistGradientBoostingClassifier(random_state=seed, **settings)
        model.fit(values, label, sample_weight=weight)
        base += float(np.ravel(model._baseline_prediction)[0]) / len(SEEDS)  # noqa: SLF001
        trees += [_tree(one[0].nodes, settings["learning_rate"]) for one in model._predictors]  # noqa: SLF001
    return Trees(names, round(base, 8), tuple(trees))


def _tree(nodes: NDArray[Any], rate: float) -> Tree:
    """A tree of scikit-learn as lists: leaves carry the learning rate, inner nodes do not."""
    leaf = nodes["is_leaf"].astype(bool)
    value = nodes["value"] * np.where(leaf, 1.0, rate) / len(SEEDS)
    return Tree(
        feature=[-1 if end else int(f) for end, f in zip(leaf, nodes["feature_idx"], strict=True)],
        threshold=[
            0.0 if end else float(t) for end, t in zip(leaf, nodes["num_threshold"], strict=True)
        ],
        left=[int(n) for n in nodes["left"]],
        right=[int(n) for n in nodes["right"]],
        value=[round(float(v), 6) for v in value],
    )


def score_trees(trees: Trees, values: Floats) -> Floats:
    """Log-odds of each row, by the code that ships."""
    return np.array([trees.score(row) for row in values.tolist()], dtype=np.float64)


class Parts(NamedTuple):
    """Both parts, fitted on the same rows. `columns`: the word groups that the trees read."""

    words: WordPart
    trees: Trees
    columns: Ints

    def score(self, m: Matrix) -> tuple[Floats, Floats]:
        """Log-odds of both for each row."""
        return self.words.score(m), score_trees(self.trees, _for_trees(m, self.columns))


def fit_parts(m: Matrix, pulls: Pulls) -> Parts:
    """Both parts, with the weights of `weights`."""
    weight = weights(pulls)
    words = fit_words(m, pulls.label, weight)
    columns = _telling(words, m)
    names = (*m.names, *(f"{GROUP}{m.groups[i]}" for i in columns))
    trees = fit_trees(_for_trees(m, columns), names, pulls.label, weight)
    return Parts(words, trees, columns)


def _telling(words: WordPart, m: Matrix) -> Ints:
    """The word groups that move most over all rows by the words' part."""
    documents = np.asarray((m.counts > 0).sum(axis=0)).ravel()[words.columns]
    moved = np.abs(words.coefficients) * words.idf * np.sqrt(documents)
    return np.sort(words.columns[np.argsort(-moved, kind="stable")[:TREE_GROUPS]])


def _for_trees(m: Matrix, columns: Ints) -> Floats:
    return np.hstack([m.shape, m.counts[:, columns].toarray()])


def blend(words: Floats, trees: Floats) -> Floats:
    """Both parts' log-odds as one number, not yet calibrated."""
    return WORDS_SHARE * words + (1 - WORDS_SHARE) * trees


def out_of_fold(m: Matrix, pulls: Pulls, folds: int, tell: Tell) -> tuple[Floats, Floats]:
    """Scores of both parts for each row by models that saw no row of its repository."""
    words, trees = np.zeros(len(pulls.label)), np.zeros(len(pulls.label))
    splits = list(GroupKFold(folds).split(words, pulls.label, pulls.repository))
    for number, (seen, unseen) in enumerate(splits, 1):
        parts = fit_parts(m.take(seen), pulls.take(seen))
        words[unseen], trees[unseen] = parts.score(m.take(unseen))
        tell(f"  fold {number} of {len(splits)}")
    return words, trees


def fit_stack(words: Floats, trees: Floats, short: Bools, label: Ints) -> Stack:
    """Platt scaling of the parts' blend, learnt from out-of-fold scores; short texts have their own."""
    mean = blend(words, trees)
    columns = np.column_stack([mean * ~short, short, mean * short])
    model = LogisticRegression(C=10, max_iter=1000).fit(columns, label)
    long, step, brief = (round(float(x), 6) for x in model.coef_[0])
    intercept = round(float(model.intercept_[0]), 6)
    of_words, of_trees = WORDS_SHARE, 1 - WORDS_SHARE
    return Stack(
        intercept=intercept,
        words=round(long * of_words, 8),
        trees=round(long * of_trees, 8),
        short=step,
        words_short=round(brief * of_words, 8),
        trees_short=round(brief * of_trees, 8),
    )


def weigh(stack: Stack, words: Floats, trees: Floats, short: Bools) -> Floats:
    """`Stack.weigh` of many rows."""
    rows = zip(words.tolist(), trees.tolist(), short.tolist(), strict=True)
    return np.array([stack.weigh(w, t, short=s) for w, t, s in rows], dtype=np.float64)


def fit_bands(odds: Floats, label: Ints, short: Bools) -> Bands:
    """Thresholds from out-of-fold scores, by class (Mondrian conformal prediction, Vovk 2005).

    Short texts are unknown anyhow: they are no part of the shares for agents, and for people they
    count as not flagged.
    """
    people, agents = (
        np.sort(odds[(label == 0) & ~short])[::-1],
        np.sort(odds[(label == 1) & ~short]),
    )
    # The (n + 1)-rank makes the share hold for the next one, not only for those seen. `flag` is
    # allowed its share of all people, as the goal counts them.
    everybody = int((label == 0).sum())
    flag = people[max(0, math.floor(0.01 * (everybody + 1)) - 1)] if len(people) else math.inf
    agent = people[max(0, math.floor(0.1 * (len(people) + 1)) - 1)] if len(people) else math.inf
    low = agents[max(0, math.floor(0.1 * (len(agents) + 1)) - 1)] if len(agents) else -math.inf
    return Bands(*(round(float(x), 6) for x in (flag, agent, low)))


def as_json(
    m: Matrix, parts: Parts, stack: Stack, bands: Bands, prevalence: float
) -> dict[str, Any]:
    """The model as `core.textmodel.TextModel` reads it. Weights too small to matter are left out."""
    words = parts.words
    kept = np.flatnonzero(np.abs(words.coefficients) >= 1e-4)
    return {
        "format": TEXT_FORMAT,
        "shape_version": SHAPE_VERSION,
        "prevalence": round(prevalence, 6),
        "words": {
            "intercept": round(words.intercept, 6),
            "groups": [m.groups[words.columns[i]] for i in kept],
            "idf": [round(float(words.idf[i]), 4) for i in kept],
            "weights": [round(float(words.coefficients[i]), 4) for i in kept],
        },
        "trees": parts.trees.to_json(),
        "stack": stack._asdict(),
        "bands": bands._asdict(),
    }
