"""The study of edits: its readers, its judge, its measures by hand, and what planted numbers make of its claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assay_zoo.heldout import position

from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.rewritten import Rewritten
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.models import TextModel, load
from assay.questions.aims import Aims
from assay.questions.cases import with_aims
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.word_rules import WordRule
from assay_studies.edits import found_rules
from assay_studies.edits.asked import adversarial, counterfactual, judges
from assay_studies.edits.judges import Judge, terms
from assay_studies.edits.measures import both, columns, judged_labels
from assay_studies.edits.page import PAGE
from assay_studies.edits.sizes import Sizes
from assay_studies.edits.tasks import JUDGE, _right, tasks
from assay_studies.edits.texts import DATASETS, LabelledText
from assay_studies.request import Request
from assay_studies.specification import Subject
from assay_studies.store import Store

LOW, HIGH = (
    next(p for i in range(999) if (position(p := f"Man {i} plays drums.") < 0.3) == low) for low in (True, False)
)
GOOD, BAD = LabelledText(("a good film",), "good"), LabelledText(("a bad film",), "bad")


def write(path: Path, *rows: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def write_nli(place: Path) -> None:
    head = ("sentence1", "sentence2", "gold_label")
    for part in ("train", "dev", "test"):
        folder = place / "counterfactual_aug/NLI"
        write(folder / f"original/{part}.tsv", head, (LOW, "He is loud.", "neutral"), (HIGH, "He is.", "neutral"))
        revised = ((LOW, "Nobody is there at all.", "contradiction"), (LOW, "He is here.", "entailment"))
        write(folder / f"revised_hypothesis/{part}.tsv", head, *revised)


def test_pairs_that_no_model_saw_with_the_smallest_revision(tmp_path: Path) -> None:
    write_nli(tmp_path)
    found = list(DATASETS["snli"].read(Request(data=tmp_path)))
    assert found == [LabelledText((LOW, "He is loud."), "neutral", (LOW, "He is here."))] * 3


def test_reviews_with_their_revision_where_they_are_short(tmp_path: Path) -> None:
    long = "word " * 201
    for part in ("dev", "test"):
        pairs = [("Negative", "so bad", "1"), ("Positive", "so good", "1")]
        pairs += [("Negative", long, "2"), ("Positive", "fine", "2")]
        write(
            tmp_path / f"counterfactual_aug/sentiment/combined/paired/{part}_paired.tsv",
            ("Sentiment", "Text", "batch_id"),
            *pairs,
        )
        rows = [("Positive", "so good"), ("Negative", long)]
        write(tmp_path / f"counterfactual_aug/sentiment/orig/{part}.tsv", ("Sentiment", "Text"), *rows)
    found = list(DATASETS["imdb"].read(Request(data=tmp_path)))
    assert found == [LabelledText(("so good",), "positive", ("so bad",))] * 2


def test_what_is_wrong_with_the_data_is_said(tmp_path: Path) -> None:
    write(tmp_path / "sst2/dev.tsv", ("sentence", "label"), ("a film", "2"))
    with pytest.raises(BadFile, match="line 2: the label must be 0 or 1, not '2'"):
        list(DATASETS["sst2"].read(Request(data=tmp_path)))
    with pytest.raises(BadFile, match="there is no ag_news"):
        tasks(Request(data=tmp_path), Sizes(sst2=0, snli=0, imdb=0), Store(tmp_path / "out"))
    with pytest.raises(BadInput, match="no dataset left"):
        tasks(Request(data=tmp_path), Sizes(sst2=0, snli=0, ag_news=0, imdb=0), Store(tmp_path / "out"))


def test_the_judge_of_news_learns_from_news_that_are_not_edited(tmp_path: Path) -> None:
    (tmp_path / "ag_news").mkdir()
    (tmp_path / "ag_news/test.csv").write_text('"1","One","first"\n"2","Two","second"\n', encoding="utf-8")
    request = Request(data=tmp_path)
    one, two = DATASETS["ag_news"].read(request)
    assert (one.label, two.label) == ("World", "Sports")
    assert list(DATASETS["ag_news"].learned_from(request, [one])) == [two]


def test_a_judge_learns_words_and_of_pairs_which_word_meets_which() -> None:
    labels = ("bad", "good")
    judge = Judge([GOOD, BAD] * 4, labels).model()
    assert [labels[i] for i in judge.predict(["a good day", "a bad day"]).argmax(axis=1)] == ["good", "bad"]
    found = terms(("A dog runs .", "a dog sleeps"))
    assert found[:5] == ["a", "dog", "sleeps", "a dog", "dog sleeps"]
    assert {"new: sleeps", "sleeps | runs", "1 new words"} <= set(found)
    assert not {"dog | runs", "sleeps | a"} & set(found)


def test_only_texts_that_the_model_is_right_about_are_edited() -> None:
    model = load(_says_good, labels=("bad", "good"))
    assert _right(model, [GOOD, BAD]) == [GOOD]


def _says_good(texts: Any) -> Any:
    return np.tile([0.1, 0.9], (len(texts), 1))


def _by_word(texts: Any) -> Any:
    good = np.array(["good" in str(text) for text in texts], dtype=float) * 0.8 + 0.1
    return np.stack([1 - good, good], axis=1)


def test_the_judge_is_asked_of_the_text_and_of_its_first_version() -> None:
    def resolve(name: str) -> TextModel:
        assert name == JUDGE
        return load(_by_word, labels=("bad", "good"))

    engine = Engine(load(_says_good, labels=("bad", "good")), resolve=resolve)
    text = Text.of("a good film")
    kept, turned = (Rewritten(text, string).edit(flips=True) for string in ("a good movie", "a bad film"))
    asked = [Edits(Case(text, 1), (edit,), form="versions") for edit in (kept, turned)]
    assert [outcome.get() for outcome in engine.run(map(judged_labels, asked))] == [(1, 1), (1, 0)]


def test_measures_that_a_text_has_not_are_missing_and_pairs_need_both() -> None:
    one = columns([{"flips": 1.0, "kept": 1.0}, {"flips": 0.0}, {"flips": 1.0, "kept": 0.0}])
    other = columns([{"flips": 1.0, "kept": 0.0}, {"flips": 1.0, "kept": 1.0}])
    assert np.isnan(one["kept"]).tolist() == [False, True, False]
    a, b = both(one["kept"], other["kept"])
    assert (a.tolist(), b.tolist()) == ([1.0], [0.0])


NOISE = np.random.default_rng(0).normal(0, 0.02, 60)


def planted(kept: float, changed: float) -> Subject:
    """HotFlip keeps the label so often, and MiCE's gradient changes so much more than random masks do."""
    shares = {"hotflip": kept, "hotflip_alike": kept, "mice": 1 - kept, "mice_random": 0.5, "random": 0.5}
    ways: dict[str, dict[str, Floats]] = {
        way: dict.fromkeys(("flips", "kept", "similarity", "rows"), share + NOISE) for way, share in shares.items()
    }
    for i, way in enumerate(ways):
        size = {"mice": 0.3 + changed, "mice_random": 0.3}.get(way, 0.2)
        ways[way] |= {"changed": size + np.roll(NOISE, i), "fluency": size - 0.3 + np.roll(NOISE, i)}
    return Subject("t", "T", {}, facts={"ways": ways})


@pytest.mark.parametrize(("kept", "changed", "verdict"), [(0.9, -0.1, "holds"), (0.1, 0.1, "does not hold")])
def test_claims_by_planted_numbers(kept: float, changed: float, verdict: str) -> None:
    found = [claim for about in (adversarial, counterfactual) for claim in about(planted(kept, changed))]
    verdicts = {(claim.key, claim.comparisons[0].about): claim.verdict for claim in found}
    for key in (("adversarial", "HotFlip on T"), ("critical", "T"), ("opposite", "T"), ("gradient", "T")):
        assert verdicts[key] == verdict, key
    assert {claim.key for claim in judges(planted(kept, changed))} == {"beyond_chance", "likelier"}


@pytest.mark.parametrize(
    ("further", "random", "verdicts"), [(0.6, 0.2, ["holds", "holds"]), (0.1, 0.9, ["does not hold"] * 2)]
)
def test_claims_on_rules(further: float, random: float, verdicts: list[str]) -> None:
    def share(of: float) -> found_rules.Values:
        return found_rules.Values(np.repeat([1.0, 0.0], [round(of * 400), round((1 - of) * 400)]))

    measures = {("sea", name): share(of) for name, of in (("reported", 0.6), ("further", further), ("random", random))}
    claims = found_rules.PART.of([Subject("t", "T", measures)]).claims
    assert [claim.verdict for claim in claims[:2]] == verdicts


def _says_movie(texts: Any) -> Any:
    """A model that any "movie" turns."""
    bad = np.array(["movie" in str(text) for text in texts], dtype=float) * 0.8 + 0.1
    return np.stack([bad, 1 - bad], axis=1)


def test_rules_on_further_texts_beside_random_words_and_the_judge() -> None:
    engine = Engine(
        load(_says_movie, labels=("bad", "good")), resolve=lambda name: load(_by_word, labels=("bad", "good"))
    )
    change = WordRule(("film",), ("movie",))
    rule = Rule(str(change), numbers={**change.to_dict(), "matches": 2, "flips": 2})
    rules = Rules(SampleId("mine", "0", 0), (rule,), facts={"random_words": ["tree", "stone"]})
    texts = [LabelledText((text,), "good") for text in ("a good film", "a film", "a good day", "the good movie film")]
    (outcome,) = engine.run([with_aims(found_rules._tried(rules, texts, 2), Aims())])
    tried = outcome.get()
    assert tried.flips == [1.0, 1.0, 0.0]  # of the last the model says "bad" already
    assert tried.random == [0.0, 0.0, 0.0]
    assert tried.kept == [1.0]  # "a good film" is good to the judge, "a film" is not


def test_rules_of_pairs_are_looked_for_in_whole_pairs() -> None:
    pairs = [LabelledText((f"premise {i}", f"hypothesis {i}"), "neutral") for i in range(3)]
    assert [row.strings for row in found_rules._sample("snli", pairs)] == [one.strings for one in pairs]


def test_every_claim_has_a_sentence_on_the_page() -> None:
    said = {sentence.key for sentence in PAGE.sentences}
    made = [c for about in (adversarial, counterfactual, judges) for c in about(planted(0.9, -0.1))]
    assert {claim.key for claim in made} <= said
