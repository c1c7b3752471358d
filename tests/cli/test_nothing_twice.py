"""Nothing is explained or examined twice for one command, and no text is sent through the model twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import assay
from assay import cli
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, each
from assay.questions.predict import Predict
from assay.registry.cards import CHECKS, METHODS, CheckCard, MethodCard
from assay.registry.survey import Row, Uses

DRAWS = 7
TEXTS = ("a gripping , funny film", "such a dull mess", "the acting is superb")
EXPLAINED: Counter[str] = Counter()
EXAMINED: Counter[str] = Counter()
READ: Counter[str] = Counter()


@dataclass(frozen=True)
class Counted:
    """Leave-one-out that counts how often it is asked."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        EXPLAINED[str(case.text)] += 1
        without = yield from Delete().erase(case.text, each(len(case.text)))
        values = case.value((yield Predict(case.text, without)))
        return TokenScores(case, values[0] - values[1:])


@dataclass(frozen=True)
class CountedCheck:
    """How far the prediction falls without the best word; it counts how often it is asked."""

    def examine(self, e: TokenScores) -> Conversation[float]:
        EXAMINED[str(e.text)] += 1
        keep = np.arange(len(e.text)) != e.scores.argmax()
        without = yield from Delete().erase(e.text, keep[None])
        values = e.case.value((yield Predict(e.text, without)))
        return float(values[0] - values[1])


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    place = (Row.INPUT_FEATURES, Uses.BLACK_BOX, "", "", TokenScores)
    method = MethodCard("counted", "Counted", Counted, "", (Predict,), *place)
    check = CheckCard("counted_check", "Counted", CountedCheck, "", (Predict,), TokenScores, "higher", "nothing")
    monkeypatch.setitem(METHODS, "counted", method)
    monkeypatch.setitem(CHECKS, "counted_check", check)
    monkeypatch.chdir(tmp_path)
    for counter in (EXPLAINED, EXAMINED, READ):
        counter.clear()

    def run(*arguments: str) -> None:
        code = cli.main([*arguments, "-m", "counted", "--model", f"{__name__}:model"])
        assert (code, capsys.readouterr().err) == (0, "")

    return run


def _read(texts: list[str]) -> list[float]:
    READ.update(texts)
    return [1 / (1 + np.exp(-sum(len(word) - 4 for word in text.split()) / 9)) for text in texts]


model = assay.BlackBox(_read, labels=["no", "yes"], name="counting")


@pytest.mark.parametrize("output", [("--html", "page.html"), ("--json",), ()], ids=["html", "json", "terminal"])
@pytest.mark.parametrize("verb", ["explain", "check", "trust"])
def test_each_text_is_explained_once(command: Callable[..., None], verb: str, output: tuple[str, ...]) -> None:
    tests = () if verb == "explain" else ("-c", "counted_check", "--draws", str(DRAWS))
    command(verb, *TEXTS, *tests, *output)
    assert Counter(dict.fromkeys(TEXTS, 1)) == EXPLAINED
    assert Counter(dict.fromkeys(TEXTS, 0 if verb == "explain" else 1 + DRAWS)) == EXAMINED
    assert set(TEXTS) <= set(READ)
    assert set(READ.values()) == {1}
