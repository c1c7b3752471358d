"""The study of rationales: its readers, its measures by hand, and what planted writers make of its claims."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import BadFile, BadInput
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.questions.generation import TokenLikelihoods
from assay.text.text import Text
from assay_studies.rationales import belief, closeness, likelihood
from assay_studies.rationales.bleu import corpus_bleu, counts
from assay_studies.rationales.questions import DATASETS, Question
from assay_studies.rationales.sizes import Sizes
from assay_studies.rationales.tasks import BASE, WRITER, tasks
from assay_studies.request import Request
from assay_studies.specification import Subject, Values
from assay_studies.store import Store

LABELS = ("entailment", "neutral", "contradiction")
PREMISE, SEEN = "A man plays drums.", "A man plays drums that the models were trained on."


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


def test_pairs_that_no_model_saw_with_what_people_and_nile_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_zoo.heldout.is_clean_snli_premise", lambda premise, split: premise != SEEN)
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


def test_bleu_by_hand() -> None:
    # 5 of 6 words, 3 of 5 pairs, 1 of 4 triples and 0 of 3 quadruples are in "the cat is on the mat", which is as long.
    assert counts("The cat sat on the mat.", ["the cat is on the mat"]) == [5, 3, 1, 0, 6, 5, 4, 3, 6, 6]
    assert corpus_bleu(np.array([5.0, 3, 1, 0, 6, 5, 4, 3, 6, 6])) == 0.0
    sums = np.array([5.0, 3, 2, 1, 6, 5, 4, 3, 6, 8])
    assert corpus_bleu(sums) == pytest.approx(100 * np.exp(1 - 8 / 6) * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    assert corpus_bleu(np.stack([sums, sums / 7])) == pytest.approx([float(corpus_bleu(sums))] * 2)


def test_a_word_counts_as_often_as_one_reference_has_it() -> None:
    found = counts("the the the", ["the cat", "the dog and the bird"])
    assert (found[0], found[4], found[8], found[9]) == (2, 3, 3, 2)  # 2 and 5 words: 2 is nearer to 3
    assert counts("a b c", ["a b", "a b c d"])[9] == 2  # of two as near the shorter
    assert counts("", ["a"]) == [0] * 9 + [1]
    assert corpus_bleu(np.array(counts("", ["a"]), dtype=float)) == 0


def test_bleu_is_that_of_sacrebleu() -> None:
    # sacrebleu 2.6.0: corpus_bleu(ours, references, lowercase=True), of sentences without punctuation
    ours = ["a man can not be asleep while posing", "the woman wears a red hat outside", "it rains"]
    human = [
        ["a man cannot be asleep while he is posing", "one can not be asleep while posing in front of an ad"],
        ["the woman wears a hat", "a woman wears a red hat in the sun outside"],
        ["it rains a lot today", "there is some rain outside today"],
    ]
    rows = np.array([counts(*both) for both in zip(ours, human, strict=True)], dtype=float)
    assert corpus_bleu(rows.mean(axis=0)) == pytest.approx(71.3791, abs=1e-4)


def test_what_is_compared_with_what_people_wrote() -> None:
    questions = [
        Question("x", 1, ("a", "b"), ("the man is happy now", "he is glad"), {"b": "the man is happy now"}),
        Question("y", 1, ("a", "b"), ("it rains outside today",), {"b": "nothing of it"}),
    ]
    ours = [told("the man is happy now", "no"), told("it rains", "it rains")]
    found = closeness._compared(questions, ours, [told("so", ""), told("so", "")])
    assert found["told"][0] == ["the man is happy now", "it rains"]
    assert found["nile"][0] == ["the man is happy now", "nothing of it"]
    assert found["otherwise"][0] == ["no", "it rains"]
    assert found["untold"][0] == ["so", "so"]
    assert found["another_text"][0] == ["it rains", "the man is happy now"]
    assert found["person"] == (["the man is happy now"], [("he is glad",)])  # only the first has two people
    assert closeness._nearest("he is happy", ("the man is happy now", "he is glad")) == pytest.approx(2 / 3)
    assert "nile" not in closeness._compared([replace(one, other_writer={}) for one in questions], ours, ours)


def subject(alike: float, gap: float) -> Subject:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.02, 60)
    shared = {"told": 0.5 + gap + noise, "otherwise": 0.5 + rng.normal(0, 0.02, 60), "another_text": np.full(60, 0.1)}
    measures = {("likeness", name): Values(values) for name, values in shared.items()}
    bleus = {("bleu", name): Values(100 * values) for name, values in shared.items()}
    return Subject("t", "T", {**measures, **bleus, ("alike", "untold"): Values(alike + noise)})


@pytest.mark.parametrize(
    ("alike", "gap", "verdicts"), [(0.9, 0.2, ["holds", "holds"]), (0.1, -0.2, ["does not hold", "does not hold"])]
)
def test_claims_on_closeness(alike: float, gap: float, verdicts: list[str]) -> None:
    claims = closeness.PART.of([subject(alike, gap)]).claims
    assert [one.verdict for one in claims] == [*verdicts, "holds"]


@pytest.mark.parametrize(("more", "verdict"), [(0.0, "holds"), (0.5, "does not hold"), (0.1, "open")])
def test_claims_on_belief(more: float, verdict: str) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 60)
    noise -= noise.mean()
    other, right = np.zeros(60), np.ones(60)
    las = {"simulatability": 0.2 + noise, "another_text": other, "untold": 0.19 + noise}
    guessed = {"from_both": right, "untold_both": right - more * (np.arange(60) % 2)}
    measures = {name: Values(values) for name, values in ({"sensitivity": more + noise} | las | guessed).items()}
    claims = belief.PART.of([Subject("t", "T", measures)]).claims
    assert [one.verdict for one in claims[:2]] == [verdict, "holds"]
    assert claims[2].verdict == {0.0: "holds", 0.5: "does not hold", 0.1: "does not hold"}[more]


def test_the_adapter_is_judged_beside_its_base() -> None:
    lengths = np.full(60, 10.0)
    rows = {
        (name, likelihood.ALL): np.stack([-value * lengths, lengths], 1) for name, value in ((WRITER, 1.4), (BASE, 2.6))
    }
    part = likelihood.PART.of([Subject("t", "T", {k: Values(v, likelihood.perplexity) for k, v in rows.items()})])
    assert part.claims[0].verdict == "holds"
    assert part.tables[0].lines[0].cells[0].ours.value == pytest.approx(np.exp(1.4))  # type: ignore[union-attr]


def test_the_same_explanations_are_read_in_the_spelling_of_the_adapter() -> None:
    said = "Can’t be.  A man cannot sing. He sleeps."
    assert likelihood.spelt(said) == "can't be; a man can not sing; he sleeps."
    pair = Question("a text", 0, ("yes", "no"), (said, "Short"))

    class Planted:
        """A writer to which each letter is one nat, and a large one two."""

        name, title, read = "t", "T", (pair, pair)
        request = Request()

        def ask(self, talks: Any) -> list[Any]:
            found = []
            for talk in talks:
                asked = next(talk)
                texts = asked.continuations
                sums = [TokenLikelihoods(("x",) * len(t), np.array([-1.0 - one.isupper() for one in t])) for t in texts]
                try:
                    talk.send(sums)
                except StopIteration as end:
                    found.append(end.value)
            return found

    (subject,) = likelihood.PART.measure([Planted()])  # type: ignore[list-item]
    texts = {(False, False): [said, "Short"], (False, True): [said], (True, False): [likelihood.spelt(said), "short"]}
    for read, own in (texts | {(True, True): [likelihood.spelt(said)]}).items():
        letters = "".join(f" {one}" for one in own)
        nats = len(letters) + sum(one.isupper() for one in letters)
        assert subject.estimate(WRITER, str(read)).value == pytest.approx(np.exp(nats / len(letters)))  # type: ignore[union-attr]
