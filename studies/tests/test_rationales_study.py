"""The study of rationales: its readers, its measures by hand, and what planted writers make of its claims."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assay_zoo.heldout import is_clean_snli_premise

from assay.errors import BadFile, BadInput
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.text.text import Text
from assay_studies.rationales import belief, closeness, likelihood
from assay_studies.rationales.questions import DATASETS, Question
from assay_studies.rationales.sizes import Sizes
from assay_studies.rationales.tasks import BASE, WRITER, tasks
from assay_studies.request import Request
from assay_studies.specification import Subject, Values
from assay_studies.store import Store

LABELS = ("entailment", "neutral", "contradiction")
PREMISE = next(p for i in range(99) if is_clean_snli_premise(p := f"A man plays {i} drums.", "test"))
SEEN = next(p for i in range(99) if not is_clean_snli_premise(p := f"A man plays {i} drums.", "test"))


def write_esnli(place: Path, *rows: tuple[str, ...]) -> None:
    folder = place / "esnli_dev_test_nile"
    folder.mkdir()
    (folder / "test.tsv.xz").write_bytes(lzma.compress("\n".join("\t".join(row) for row in rows).encode()))


def esnli_row(gold: str = "neutral", premise: str = PREMISE, human: tuple[str, str, str] = ("a b", "c", "")) -> Any:
    return ("1", gold, premise, "He is loud.", *human, "*x*", "*y*", "for e", "for c", "for n")


def write_cose(place: Path, key: str = "B") -> None:
    folder = place / "cose" / "v1.0"
    folder.mkdir(parents=True)
    choices = [{"label": one, "text": f"choice {one}"} for one in "ABC"]
    asked = {"id": "q", "answerKey": key, "question": {"stem": "Where?", "choices": choices}}
    said = {"id": "q", "explanation": {"open-ended": " because so "}}
    (folder / "dev_rand_split.jsonl").write_text(json.dumps(asked) + "\n" + json.dumps({**asked, "id": "none"}))
    (folder / "cose_dev_v1.0.jsonl").write_text(json.dumps(said))


def test_pairs_that_no_model_saw_with_what_people_and_nile_wrote(tmp_path: Path) -> None:
    write_esnli(
        tmp_path, esnli_row(), esnli_row(premise=SEEN), esnli_row(human=("", "", "")), esnli_row("contradiction")
    )
    one, two = DATASETS["esnli"].read(Request(data=tmp_path))
    pair = {"premise": PREMISE, "hypothesis": "He is loud."}
    nile = {"entailment": "for e", "neutral": "for n", "contradiction": "for c"}
    assert one == Question(pair, 1, LABELS, ("a b", "c"), nile)
    assert two.answer == 2


def test_questions_with_an_explanation(tmp_path: Path) -> None:
    write_cose(tmp_path)
    (one,) = DATASETS["cose"].read(Request(data=tmp_path))
    assert one == Question("Where?", 1, ("choice A", "choice B", "choice C"), ("because so",))


def test_what_is_wrong_with_the_data_is_said(tmp_path: Path) -> None:
    write_cose(tmp_path, key="D")
    with pytest.raises(BadFile, match="no choice is called 'D'"):
        list(DATASETS["cose"].read(Request(data=tmp_path)))
    with pytest.raises(BadFile, match="there is no esnli_dev_test_nile"):
        tasks(Request(data=tmp_path), Sizes(), Store(tmp_path / "out"))
    with pytest.raises(BadInput, match="no dataset left"):
        tasks(Request(data=tmp_path), Sizes(esnli=0, cose=0), Store(tmp_path / "out"))


def test_perplexity_is_of_all_tokens_together() -> None:
    rows = np.array([[-2.0, 4], [-6.0, 2]])
    assert float(likelihood.perplexity(rows.mean(axis=0))) == pytest.approx(np.exp(8 / 6))


def told(own: str, other: str, target: int = 1) -> Rationale:
    return Rationale(Case(Text.of("a text"), target), Reason(own), others={0: Reason(other)})


def test_bleu_and_overlap_by_hand() -> None:
    questions = [
        Question("x", 1, ("a", "b"), ("the man is happy now", "he is glad"), {"b": "the man is happy now"}),
        Question("y", 1, ("a", "b"), ("it rains outside today",), {"b": "nothing of it"}),
    ]
    ours = [told("the man is happy now", "no"), told("it rains", "it rains")]
    found = dict(closeness._bleus(questions, ours, [told("so", ""), told("so", "")]))
    assert found["bleu", "told"][0] == pytest.approx(100)
    assert found["bleu", "nile"][0] == pytest.approx(100)
    assert found["bleu", "otherwise"][1] == found["bleu", "told"][1] < 100
    assert found["bleu", "untold"].max() < 10
    assert len(found["bleu", "person"]) == 1  # only the first has two people
    assert closeness._next(ours) == ["it rains", "the man is happy now"]


def subject(alike: float, gap: float) -> Subject:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.02, 60)
    bleus = {"told": 5 + gap + noise, "otherwise": 5 + rng.normal(0, 0.02, 60), "another_text": np.full(60, 1.0)}
    measures = {("bleu", name): Values(values) for name, values in bleus.items()}
    return Subject("t", "T", {**measures, ("alike", "untold"): Values(alike + noise)})


@pytest.mark.parametrize(
    ("alike", "gap", "verdicts"), [(0.9, 1.0, ["holds", "holds"]), (0.1, -1.0, ["does not hold", "does not hold"])]
)
def test_claims_on_closeness(alike: float, gap: float, verdicts: list[str]) -> None:
    claims = closeness.PART.of([subject(alike, gap)]).claims
    assert [one.verdict for one in claims] == [*verdicts, "holds"]


@pytest.mark.parametrize(("more", "verdict"), [(0.0, "holds"), (0.5, "does not hold"), (0.1, "open")])
def test_claims_on_belief(more: float, verdict: str) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 60)
    noise -= noise.mean()
    found = Subject("t", "T", {"sensitivity": Values(more + noise), "simulatability": Values(0.2 + noise)})
    assert [one.verdict for one in belief.PART.of([found]).claims] == [verdict, "holds"]


def test_the_adapter_is_judged_beside_its_base() -> None:
    lengths = np.full(60, 10.0)
    rows = {name: np.stack([-value * lengths, lengths], 1) for name, value in ((WRITER, 1.4), (BASE, 2.6))}
    part = likelihood.PART.of([Subject("t", "T", {k: Values(v, likelihood.perplexity) for k, v in rows.items()})])
    assert part.claims[0].verdict == "holds"
    assert part.tables[0].lines[0].cells[0].ours.value == pytest.approx(np.exp(1.4))  # type: ignore[union-attr]
