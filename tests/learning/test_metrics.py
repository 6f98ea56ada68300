"""Figures against what can be counted by hand."""

import math

import numpy as np
import pytest

from app.learning.metrics import (
    auc,
    calibration_error,
    precision_at,
    recall_at,
    with_interval,
)

LABEL = np.array([0, 0, 1, 1])


def test_auc_counts_pairs_and_ties_half() -> None:
    assert auc(LABEL, np.array([1.0, 2.0, 3.0, 4.0])) == 1
    assert auc(LABEL, np.array([4.0, 3.0, 2.0, 1.0])) == 0
    assert auc(LABEL, np.zeros(4)) == 0.5
    assert auc(LABEL, np.array([1.0, 3.0, 2.0, 4.0])) == 0.75
    assert math.isnan(auc(np.ones(3, dtype=int), np.zeros(3)))


def test_recall_allows_no_more_people_than_said() -> None:
    label = np.array([0] * 200 + [1] * 4)
    score = np.array([*range(200), 196.5, 197.5, 198.5, 500.0])
    # Two of two hundred may be above: 199 and 198.
    assert recall_at(label, score) == 0.75
    assert (score[:200] > 197).sum() == 2
    assert recall_at(LABEL, np.array([1.0, 5.0, 4.0, 6.0])) == 0.5


def test_calibration_error_is_the_mean_distance() -> None:
    label, probability = np.array([1, 0, 1, 0]), np.array([0.95, 0.95, 0.05, 0.05])
    assert calibration_error(label, probability) == pytest.approx(0.45)
    assert calibration_error(np.array([1, 0]), np.array([1.0, 0.0])) == 0


def test_precision_follows_the_prevalence() -> None:
    flagged = np.array([False, True, True, True])
    assert precision_at(LABEL, flagged, 0.5) == pytest.approx(2 / 3)
    assert precision_at(LABEL, flagged, 0.05) < 0.1


def test_intervals_are_of_groups_and_the_same_each_time() -> None:
    group = np.repeat(np.arange(20), 10)
    value = np.repeat(np.arange(20), 10).astype(float)
    figure = with_interval(group, lambda i: float(value[i].mean()))
    assert figure == with_interval(group, lambda i: float(value[i].mean()))
    assert figure.low < figure.value < figure.high
    # Wider than if the rows were free of each other: 95 % of ±2·5.8/√200 would be ±0.8.
    assert figure.high - figure.low > 3
    assert math.isnan(with_interval(np.zeros(5), lambda _: 1.0).low)
