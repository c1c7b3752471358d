"""scikit-learn classifiers of texts: what their columns mean is what their own predict makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, LinearSVC

import assay
from assay.engine.engine import Engine
from assay.errors import ModelNotLoaded
from assay.questions.predict import Predict
from assay.text.text import Text

LINES = [line for line in tiny.CORPUS if line.isascii()]
TEXTS = ["a funny film", "the plot was dull", "dogs"]


def fitted(classifier: Any, labels: int = 2) -> Pipeline:
    return make_pipeline(CountVectorizer(), classifier).fit(LINES, [f"class {i % labels}" for i in range(len(LINES))])


@pytest.mark.parametrize("labels", [2, 3])
def test_scikit_learn_with_probabilities(labels: int) -> None:
    pipeline = fitted(LogisticRegression(), labels)
    model = assay.load(pipeline)
    assert model.labels == tuple(f"class {i}" for i in range(labels))
    assert model.predict(TEXTS) == pytest.approx(pipeline.predict_proba(TEXTS), abs=1e-6)
    told = assay.explain(model, "the plot was dull", "leave_one_out")
    assert told.label == pipeline.predict(["the plot was dull"])[0]


def test_leave_one_out_of_logistic_regression_is_its_weights() -> None:
    pipeline = fitted(LogisticRegression())
    told = assay.explain(pipeline, "the plot was dull", "leave_one_out", target="class 1")
    words, weights = pipeline[0].vocabulary_, pipeline[1].coef_[0]
    assert told.scores == pytest.approx([weights[words[word]] for word in told.words], abs=1e-9)


@pytest.mark.parametrize("labels", [2, 3])
def test_scikit_learn_with_a_decision_function(labels: int) -> None:
    pipeline = fitted(LinearSVC(), labels)
    model = assay.load(pipeline)
    decided = pipeline.decision_function(TEXTS)
    values = Engine(model).ask(Predict(*map(Text.of, TEXTS)))
    assert values.value(1) == pytest.approx(decided) if labels == 2 else values.logits == pytest.approx(decided)
    assert [model.labels[i] for i in values.argmax()] == pipeline.predict(TEXTS).tolist()


def test_scikit_learn_that_is_not_fitted() -> None:
    with pytest.raises(ModelNotLoaded):
        assay.load(make_pipeline(CountVectorizer(), LogisticRegression()))


def test_fingerprints() -> None:
    one, two = fitted(LogisticRegression()), fitted(LogisticRegression(C=9))
    assert assay.load(one).fingerprint() == assay.load(one).fingerprint() != assay.load(two).fingerprint()


def test_the_logit_of_two_classes_is_the_decision() -> None:
    pipeline = fitted(LinearSVC())
    value = Engine(assay.load(pipeline)).ask(Predict(*map(Text.of, TEXTS))).value(1, "logit")
    assert value == pytest.approx(pipeline.decision_function(TEXTS))


def searched() -> Any:
    return GridSearchCV(SVC(decision_function_shape="ovo"), {"C": [1.0]}, cv=2)


@pytest.mark.parametrize("labels", [3, 4])
@pytest.mark.parametrize("classifier", [lambda: SVC(decision_function_shape="ovo"), searched], ids=["plain", "grid"])
def test_pairs_of_classes_are_not_taken_for_classes(classifier: Any, labels: int) -> None:
    """Of three classes there are three pairs: nothing but the setting tells them apart."""
    with pytest.raises(ModelNotLoaded, match="decision_function_shape='ovr' of its SVC"):
        assay.load(fitted(classifier(), labels))


def test_one_setting_makes_classes_of_pairs() -> None:
    pipeline = fitted(SVC(decision_function_shape="ovo"), 3).set_params(svc__decision_function_shape="ovr")
    known = LINES[:20]
    found = [assay.load(pipeline).labels[i] for i in assay.load(pipeline).predict(known).argmax(axis=1)]
    assert found == pipeline.predict(known).tolist()
    assert assay.load(fitted(SVC(decision_function_shape="ovo"), 2)).labels == ("class 0", "class 1")


SEVERAL = {
    "one_vs_rest_svm": OneVsRestClassifier(LinearSVC()),
    "one_vs_rest_ovo": OneVsRestClassifier(SVC(decision_function_shape="ovo")),
    "one_vs_rest_logistic": OneVsRestClassifier(LogisticRegression()),
    "ridge": RidgeClassifier(),
    "chain_svm": ClassifierChain(LinearSVC()),
    "chain_logistic": ClassifierChain(LogisticRegression()),
    "multi_output": MultiOutputClassifier(LogisticRegression()),
    "forest": RandomForestClassifier(9, random_state=0),
    "neighbours": KNeighborsClassifier(3),
    "network": MLPClassifier((4,), max_iter=30, random_state=0),
}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("name", SEVERAL)
def test_labels_that_hold_together(name: str) -> None:
    """Each label has a probability of its own, and those above a half are the labels that predict gives."""
    targets = np.array([["film" in line, "a" in line.split(), len(line) > 57] for line in LINES]).astype(int)
    pipeline = make_pipeline(CountVectorizer(), SEVERAL[name]).fit(LINES, targets)
    model = assay.load(pipeline)
    assert (model.labels, model.multi_label) == (("0", "1", "2"), True)
    found = model.predict(LINES)
    assert np.array_equal(found > 0.5, pipeline.predict(LINES) == 1)
    assert found.sum(axis=1).max() > 1.2, "labels exclude each other"
    told = assay.explain(model, LINES[0], "leave_one_out", target="2")
    assert list(told.prediction) == ["0", "1", "2"]


def test_a_label_that_no_text_had() -> None:
    targets = np.array([[i % 2, 0] for i in range(len(LINES))])
    model = assay.load(make_pipeline(CountVectorizer(), KNeighborsClassifier(3)).fit(LINES, targets))
    assert model.predict(TEXTS)[:, 1] == pytest.approx(0, abs=1e-6)


def test_strings_for_yes_and_no_keep_their_sides() -> None:
    targets = np.array([[str(int("film" in line)), str(i % 2)] for i, line in enumerate(LINES)])
    pipeline = make_pipeline(CountVectorizer(), KNeighborsClassifier(1)).fit(LINES, targets)
    assert np.array_equal(assay.load(pipeline).predict(LINES) > 0.5, pipeline.predict(LINES) == "1")


def test_several_choices_beside_each_other_are_refused() -> None:
    targets = np.array([[i % 3, i % 2] for i in range(len(LINES))])
    with pytest.raises(ModelNotLoaded, match="output 0 of this Pipeline chooses among 0, 1, 2"):
        assay.load(make_pipeline(CountVectorizer(), KNeighborsClassifier(3)).fit(LINES, targets))
