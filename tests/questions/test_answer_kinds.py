"""What is read off answers: values on every scale, changes of answers, pieces to words, attention down the layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.questions.answers import AttentionMaps, PieceWords, Predictions, changes

LOGITS = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 0.0]])
OWNERS = PieceWords(4, 2, np.array([1, 2, 2]), np.array([0, 0, 1]), np.array([1.0, 0.5, 0.5], np.float32))


def chances(row: Any) -> Any:
    return [np.exp(x) / sum(np.exp(y) for y in row) for x in row]


def test_values_of_labels_that_exclude_each_other() -> None:
    p = np.array([chances(row) for row in LOGITS])
    answers = Predictions(LOGITS)
    for target in range(3):
        np.testing.assert_allclose(answers.value(target, "probability"), p[:, target])
        np.testing.assert_allclose(answers.value(target), np.log(p[:, target] / (1 - p[:, target])))
    np.testing.assert_allclose(answers.value(2, "logit"), LOGITS[:, 2])
    np.testing.assert_allclose(answers.value(2, against=0), LOGITS[:, 2] - LOGITS[:, 0])
    assert answers.argmax().tolist() == [2, 0]
    assert Predictions(np.zeros((1, 3))).argmax().tolist() == [0], "among equals the first"
    assert len(answers[:1]) == 1


def test_values_of_labels_that_may_hold_together() -> None:
    answers = Predictions(LOGITS, multi_label=True)
    np.testing.assert_allclose(answers.value(1, "probability"), 1 / (1 + np.exp(-LOGITS[:, 1])))
    np.testing.assert_allclose(answers.value(1), LOGITS[:, 1])
    assert answers[1:].multi_label


@pytest.mark.parametrize("multi_label", [False, True])
def test_how_far_an_answer_is_from_another(multi_label: bool) -> None:
    one, other = (Predictions(LOGITS[[i]], multi_label) for i in (0, 1))
    apart = np.abs(one.probabilities - other.probabilities)
    expected = apart.mean() if multi_label else apart.sum() / 2
    np.testing.assert_allclose(changes(one, other), [expected])


def test_pieces_are_summed_over_words() -> None:
    np.testing.assert_allclose(OWNERS.per_word(np.array([[9.0, 1.0, 4.0, 9.0]])), [[3.0, 2.0]])


@pytest.mark.parametrize(("ahead", "reader"), [(True, 0), (False, 3)])
def test_layers_are_multiplied_from_the_reader_down(ahead: bool, reader: int) -> None:
    """Where nobody says who reads the answer: the first piece, or the last one where none looks ahead."""
    weights = np.random.default_rng(0).random((2, 1, 4, 4)).astype(np.float32)
    maps = AttentionMaps(weights if ahead else np.tril(weights), OWNERS)
    layers = np.random.default_rng(1).random((3, 4, 4))
    flow = (layers[2] @ layers[1] @ layers[0])[reader]
    np.testing.assert_allclose(maps.rolled(layers), [flow[1] + flow[2] / 2, flow[2] / 2])
