"""Fingerprints of functions: an edit anywhere it matters is seen, a use or a comment is not."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from random import random
from threading import Lock
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import assay
from assay.engine.engine import Engine

SOURCE = """
import numpy as np

import own_helpers
from own_helpers import weigh

WEIGHTS = {"good": 1.0, "bad": -1.0}
SCALE = 2.0


def inner(word):
    return WEIGHTS.get(word, 0.0)


class Judge:
    bonus = 0.0

    def judge(self, text):
        return sum(map(inner, text.split())) + self.bonus


def score(text, judge=Judge()):
    return SCALE * weigh(judge.judge(text)) + own_helpers.shift(text)


def model(texts):
    # a comment
    p = 1 / (1 + np.exp(-np.array([score(text) for text in texts])))
    return np.stack([1 - p, p], axis=1)
"""
HELPERS = (
    "def weigh(value):\n    return value * 1.0\n\n\ndef shift(text):\n    return 0.0 if len(text) < 999 else 0.5\n"
)
EDITS = {
    "weights": ('"bad": -1.0', '"bad": -1.0, "rare": 3.0'),
    "scale": ("SCALE = 2.0", "SCALE = 2.0000001"),
    "inner": ("WEIGHTS.get(word, 0.0)", "WEIGHTS.get(word[:99], 0.0)"),
    "method": ("+ self.bonus", "+ 0 + self.bonus"),
    "class attribute": ("bonus = 0.0", "bonus = 1e-12"),
    "model": ("1 / (1 +", "1.0 / (1 +"),
    "helper": ("value * 1.0", "value * 1.0 if value < 99 else 7.0"),
    "helper of a module": ("else 0.5", "else 0.25"),
}


def printed(place: Path, monkeypatch: pytest.MonkeyPatch, source: str = SOURCE, helpers: str = HELPERS) -> str:
    """The fingerprint of the model after the module was written and loaded."""
    (place / "own_model.py").write_text(source)
    (place / "own_helpers.py").write_text(helpers)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("own_model", "own_helpers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import_module("own_model")
    return assay.load("own_model:model").fingerprint()


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_that_no_probe_shows_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = printed(tmp_path, monkeypatch)
    old, new = EDITS[name]
    assert old in SOURCE + HELPERS
    assert printed(tmp_path, monkeypatch, SOURCE.replace(old, new), HELPERS.replace(old, new)) != before
    assert printed(tmp_path, monkeypatch) == before


def test_what_does_not_matter_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = printed(tmp_path, monkeypatch)
    other = SOURCE.replace("    # a comment", "\n    # another comment") + "\n\ndef unused():\n    pass\n"
    assert printed(tmp_path, monkeypatch, other) == before


def test_another_process_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own order of sets and places in memory."""
    more = SOURCE.replace("SCALE = 2.0", "SCALE = 2.0\nWORDS = {'good', 'bad', 'fine', 'film', None}").replace(
        "    # a comment", "    assert WORDS and 'x' not in {'good', 'fine', 'bad'}"
    )
    before = printed(tmp_path, monkeypatch, more)
    code = "import assay; print(assay.load('own_model:model').fingerprint())"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == before


def constant(texts: list[str], value: float = 0.5) -> list[float]:
    return [value] * len(texts)


def test_closures_partials_objects_and_answers_count() -> None:
    def closed(weights: dict[str, float]) -> Any:
        return lambda texts: [weights.get(text, 0.5) for text in texts]

    class Box:
        def __init__(self, extra: float) -> None:
            self.extra, self.lock = {"unseen text": extra}, Lock()  # a lock cannot be pickled

        def __call__(self, texts: list[str]) -> list[float]:
            return [self.extra.get(text, 0.5) for text in texts]

        def predict(self, texts: list[str]) -> list[float]:
            return self(texts)

    models: list[tuple[Any, Any]] = [
        (closed({"unseen": 0.1}), closed({"unseen": 0.2})),
        (partial(constant, value=0.5), partial(constant, value=0.25)),
        (Box(0.1), Box(0.2)),
        (Box(0.1).predict, Box(0.2).predict),
        (lru_cache(lambda text: 0.5), lru_cache(lambda text: 0.25)),
    ]
    for one, other in models[:-1]:
        assert assay.load(one).fingerprint() == assay.load(one).fingerprint() != assay.load(other).fingerprint()
    one, other = ((lambda texts, f=f: [f(text) for text in texts]) for f in models[-1])
    assert assay.load(one).fingerprint() == assay.load(one).fingerprint() != assay.load(other).fingerprint()


def test_a_file_that_is_read_at_every_call_is_seen_by_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "value.txt"

    def reads(texts: list[str]) -> list[float]:
        return [float(path.read_text())] * len(texts)

    path.write_text("0.5")
    before = assay.load(reads).fingerprint()
    path.write_text("0.75")
    assert assay.load(reads).fingerprint() != before


CALLS: list[str] = []
KNOWN: dict[str, float] = {}


def counting(texts: list[str]) -> list[float]:
    CALLS.append("called")
    for text in texts:
        KNOWN.setdefault(text, 0.5)
    return [KNOWN[text] for text in texts]


def test_a_model_that_was_used_is_the_same_model() -> None:
    model = assay.load(counting)
    before = model.fingerprint()
    model.predict(["a film", "another"])
    assert model.fingerprint() == before


def test_a_function_that_draws_is_known_by_its_code_and_that_is_said() -> None:
    def drawn(texts: list[str]) -> list[float]:
        return [random() for _ in texts]

    model = assay.load(drawn)
    with pytest.warns(UserWarning, match="drawn answers the same text differently from call to call"):
        before = model.fingerprint()
    with pytest.warns(UserWarning, match="code alone"):
        assert model.fingerprint() == before


def test_functions_of_pairs_are_probed_as_such() -> None:
    def pairs(shift: float) -> Any:
        values = np.array([0.5, shift])
        return lambda texts: [float(values[len(a) > len(b)]) for a, b in texts]

    labels = {"labels": ["no", "yes"]}
    one, other = assay.load(pairs(0.1), **labels), assay.load(pairs(0.2), **labels)
    assert one.fingerprint() == one.fingerprint() != other.fingerprint()


def test_estimators_by_what_they_have_learnt_and_the_functions_they_call() -> None:
    texts = ["good film", "bad film", "fine film", "dull film"]

    def fitted(limit: int, strength: float) -> Any:
        def cut(text: str) -> list[str]:
            return text.split()[:limit]

        return make_pipeline(CountVectorizer(analyzer=cut), LogisticRegression(C=strength)).fit(texts, [1, 0, 1, 0])

    prints = [assay.load(fitted(*how)).fingerprint() for how in ((99, 1.0), (99, 1.0), (99, 1.0001), (98, 1.0))]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_a_network_in_a_closure_is_known_by_its_weights() -> None:
    import torch

    def scoring(network: Any) -> Any:
        def scores(texts: list[str]) -> Any:
            with torch.no_grad():
                return torch.sigmoid(network(torch.tensor([[float(len(text) < 999)] for text in texts])))[:, 0]

        return scores

    torch.manual_seed(0)
    one = torch.nn.Linear(1, 1)
    other = torch.nn.Linear(1, 1)
    other.load_state_dict(one.state_dict())
    assert assay.load(scoring(one)).fingerprint() == assay.load(scoring(other)).fingerprint()
    with torch.no_grad():
        other.bias += 1e-6
    assert assay.load(scoring(one)).fingerprint() != assay.load(scoring(other)).fingerprint()


def test_a_cache_on_disk_does_not_serve_the_answers_of_the_function_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = str(tmp_path / "answers.db"), "good rare film"
    printed(tmp_path, monkeypatch)
    model = assay.load("own_model:model")
    before = assay.explain(model, text, "leave_one_out", engine=Engine(model, cache=path))
    printed(tmp_path, monkeypatch, SOURCE.replace('"bad": -1.0', '"bad": -1.0, "rare": 3.0'))
    model = assay.load("own_model:model")
    after = assay.explain(model, text, "leave_one_out", engine=Engine(model, cache=path))
    assert list(after.scores) != list(before.scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = assay.explain(model, text, "leave_one_out", engine=Engine(model, cache=path))
    assert list(again.scores) == list(after.scores)
    assert again.about.cost.forwards == 0
