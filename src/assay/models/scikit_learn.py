"""Classifiers of scikit-learn that take texts, as black boxes: their probabilities, or their decisions as logits.

What their columns mean is found out, not assumed. An estimator that predicts [texts, labels] has labels that may hold
together: each has a probability of its own, whatever form `predict_proba` gives them. Columns of SVC with
decision_function_shape="ovo" are pairs of classes; of three classes there are three pairs, so their number tells
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import BadInput, ModelNotLoaded
from assay.models.black_box import BlackBox
from assay.statistics.arrays import Floats

# The two classes of a label that holds or not.
_HOLDS, _HOLDS_NOT = frozenset({"1", "1.0", "True"}), frozenset({"0", "0.0", "False"})
# Where an estimator that leaves the decision to another one keeps it.
_DECIDERS = ("best_estimator_", "estimator_", "final_estimator_", "_final_estimator")


@dataclass(frozen=True)
class PositiveClasses:
    """The probability that each label holds [texts, labels], of an estimator that has a table for each label."""

    estimator: Any

    def __call__(self, texts: Sequence[Any]) -> Floats:
        given = self.estimator.predict_proba(texts)
        if not isinstance(given, list):
            return np.asarray(given)
        return np.stack([_positive(*pair) for pair in zip(given, self.estimator.classes_, strict=True)], axis=1)


def from_sklearn(estimator: Any) -> BlackBox:
    """A fitted classifier, or a pipeline that ends in one."""
    title = type(estimator).__name__
    if not hasattr(estimator, "classes_"):
        raise ModelNotLoaded(f"this {title} is not fitted; call fit first.")
    several = _predicts_several(estimator, title)
    labels = _several_labels(estimator.classes_, title) if several else [str(label) for label in estimator.classes_]
    if hasattr(estimator, "predict_proba"):
        function = PositiveClasses(estimator) if several else estimator.predict_proba
        return BlackBox(function, labels=labels, name=title, multi_label=several, of=estimator)
    if not several:
        _require_columns(estimator, title, len(labels))
    return BlackBox(
        estimator.decision_function, labels=labels, name=title, multi_label=several, logits=True, of=estimator
    )


def require_classes(estimator: Any) -> None:
    """An error that says what an estimator without probabilities and decisions would need: it is no classifier."""
    if hasattr(estimator, "fit") and hasattr(estimator, "predict"):
        raise ModelNotLoaded(
            f"this {type(estimator).__name__} has neither predict_proba nor decision_function; Assay explains choices "
            "among labels: give a classifier, or a function from texts to probabilities."
        )


def _predicts_several(estimator: Any, title: str) -> bool:
    """Whether labels may hold together: it predicts a row of them for every text, not one of them."""
    for probe in ("a", ("a", "a")):
        try:
            return len(estimator.predict([probe]).shape) == 2
        except Exception as error:
            failure = error
    raise BadInput(f"{title} cannot predict of a list of one text, nor of one pair of texts ({failure}).") from failure


def _several_labels(classes: Any, title: str) -> list[str]:
    """The names of labels that may hold together; without names, their numbers."""
    if not isinstance(classes, list):
        return [str(label) for label in classes]
    for i, own in enumerate(classes):
        if not {str(one) for one in own} <= _HOLDS | _HOLDS_NOT:
            raise ModelNotLoaded(
                f"output {i} of this {title} chooses among {', '.join(map(str, own))}, beside other outputs; Assay "
                "explains one choice, or labels that hold or not (0 and 1): give an estimator with one of the outputs."
            )
    return [str(i) for i in range(len(classes))]


def _positive(table: Floats, classes: Sequence[Any]) -> Floats:
    """The column of the class 1; a label that no text had when it was fitted has none."""
    holds = [i for i, one in enumerate(classes) if str(one) in _HOLDS]
    return np.asarray(table)[:, holds[0]] if holds else np.zeros(len(table))


def _require_columns(estimator: Any, title: str, classes: int) -> None:
    """An error where the columns of its decision function are pairs of classes."""
    decider = _decider(estimator)
    if classes > 2 and getattr(decider, "decision_function_shape", None) == "ovo":
        raise ModelNotLoaded(
            f"the decision function of this {title} compares pairs of classes (decision_function_shape='ovo'), which "
            f"is no number for each class: set decision_function_shape='ovr' of its {type(decider).__name__} (it need "
            "not be fitted again), or wrap it in CalibratedClassifierCV, which has probabilities."
        )


def _decider(estimator: Any) -> Any:
    """Whose decision function it is, in the end."""
    for name in _DECIDERS:
        inner = getattr(estimator, name, None)
        if hasattr(inner, "decision_function"):
            return _decider(inner)
    return estimator
