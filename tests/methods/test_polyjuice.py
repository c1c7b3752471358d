"""Polyjuice with planted editors: what is asked and read, what is kept, and which versions are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.models import BlackBox
from assay.questions.predict import Predict
from assay.text.control_codes import detected_code
from assay.text.distance import edit_distance
from assay.text.text import Text
from planted_writers import PlantedEditor, WordJudge

TEXTS = ["a very good film", "the plot is dull and the film is not funny", "this is a good and funny film"]
VALUES = {"good": 2.0, "funny": 1.5, "dull": -2.5, "boring": -2.0, "bad": -3.0, "not": -4.0, "never": -4.0}
FILLS = ["bad", "not", "boring", "good", "a few", "some", "never", "really", "dull and bad", "[EMPTY]"]
PLAIN: dict[str, Any] = {"tagger": None, "judge": None, "importance": "leave_one_out"}


def judged(texts: list[Any]) -> np.ndarray:
    """The words that are known, added up; of a pair those of the second text against the first."""
    totals = []
    for text in texts:
        strings = [text] if isinstance(text, str) else list(text)
        signs = [1.0] if len(strings) == 1 else [-0.1, 1.0]
        totals.append(
            -0.5
            + sum(s * VALUES.get(w, 0.0) for s, one in zip(signs, strings, strict=True) for w in Text.of(one).words)
        )
    return 1 / (1 + np.exp(-np.array(totals)))


def here(others: Callable[[str], Any] | None = None) -> Engine:
    editor = PlantedEditor(FILLS)
    model = BlackBox(judged, labels=["bad", "good"], name="words")
    return Engine(model, resolve=others or (lambda name: editor))


def found(engine: Engine, text: Any, **settings: Any) -> Edits:
    (e,) = assay.explain(engine.model, [text], "polyjuice", engine=engine, **{**PLAIN, "samples": 8, **settings})
    return e  # type: ignore[no-any-return]


def test_every_version_flips_anew_and_has_the_code_that_was_asked_for() -> None:
    engine = here()
    codes = set()
    for text in (*TEXTS[::2], "the plot is funny and the film is good"):
        e = found(engine, text, versions=50)
        assert e.edits
        for edit in e.edits:
            (chances,) = engine.ask(Predict(Text.of(edit.text))).probabilities
            assert int(chances.argmax()) != e.target
            assert edit.flips
            assert detected_code(Text.of(text).words, Text.of(edit.text).words) == edit.code
        assert len({edit.text for edit in e.edits}) == len(e.edits)
        codes |= {edit.code for edit in e.edits}
    assert {"negation", "lexical", "delete"} <= codes


def test_what_was_dropped_is_counted() -> None:
    counts = found(here(), TEXTS[0]).facts["counts"]
    assert counts["malformed"] > 0
    assert counts["written"] > counts["malformed"]
    assert 0 < counts["other_code"] < counts["candidates"]
    assert counts["flipping"] > 0
    assert counts["unlikely"] == 0


@pytest.mark.parametrize(
    ("grammar", "end", "between"), [("own", "\nfills:", " | "), ("polyjuice", " [SEP]", " [ANSWER] ")]
)
def test_the_editor_reads_the_grammar_that_is_named(grammar: str, end: str, between: str) -> None:
    editor = PlantedEditor(FILLS, end, between)
    e = found(here(lambda name: editor), TEXTS[0], grammar=grammar, codes="negation", versions=20)
    start = f"{TEXTS[0]}\nnegation: " if grammar == "own" else f"{TEXTS[0]} <|perturb|> [negation] "
    assert editor.asked
    assert all(prompt.startswith(start) and "[BLANK]" in prompt.removeprefix(start) for prompt in editor.asked)
    assert e.edits
    assert {edit.code for edit in e.edits} == {"negation"}


def test_alone_and_in_company_the_same() -> None:
    engine = here()
    together = assay.explain(engine.model, TEXTS, "polyjuice", engine=engine, **PLAIN)
    for text, e in zip(TEXTS, together, strict=True):
        alone = assay.explain(engine.model, text, "polyjuice", engine=here(), **PLAIN)
        assert [edit.to_dict() for edit in alone.edits] == [edit.to_dict() for edit in e.edits]


def test_what_is_much_less_likely_than_the_text_is_dropped() -> None:
    """Every word costs 1, "bad" 9: a fall of 8 where it takes the place of one word, at most 10."""
    editor = PlantedEditor(["bad", "boring", "bad bad"])
    settings = {"codes": "lexical,resemantic", "versions": 50, "judge": "judge"}
    kept: dict[float, set[str]] = {}
    for drop in (7.9, 8.0, 10.0):
        judge = WordJudge({"bad": 9.0})
        engine = here(lambda name, judge=judge: judge if name == "judge" else editor)
        e = found(engine, TEXTS[0], drop=drop, **settings)
        kept[drop] = {edit.text for edit in e.edits}
        assert e.facts["counts"]["unlikely"] == e.facts["counts"]["flipping"] - len(e.edits)
        for text in kept[drop]:
            assert judge.cost(text) - judge.cost(TEXTS[0]) <= drop
    assert not any("bad" in text for text in kept[7.9])
    assert any("bad" in text for text in kept[8.0])
    assert kept[7.9] < kept[8.0] <= kept[10.0]
    assert not any("bad bad" in text for text in kept[10.0])


def test_surprise_is_the_change_beyond_the_importance_of_the_words_that_went() -> None:
    engine = here()
    e = found(engine, TEXTS[2], versions=50)
    (whole,) = engine.ask(Predict(Text.of(TEXTS[2]))).probabilities
    words = TEXTS[2].split()
    importance = []
    for i in range(len(words)):
        (less,) = engine.ask(Predict(Text.of(" ".join(words[:i] + words[i + 1 :])))).probabilities
        importance.append(whole[e.target] - less[e.target])
    surprises = [edit.scores["surprise"] for edit in e.edits]
    assert surprises == sorted(surprises, reverse=True)
    for edit, got in zip(e.edits, surprises, strict=True):
        (chances,) = engine.ask(Predict(Text.of(edit.text))).probabilities
        gone = [i for i in range(len(words)) if i not in edit.kept]
        expected = abs(sum(importance[i] for i in gone))
        assert got == pytest.approx(abs(whole[e.target] - chances[e.target]) - expected, abs=1e-9)
    assert surprises[0] > surprises[-1]


def test_diverse_versions_are_each_the_farthest_from_those_before() -> None:
    engine = here()
    every = {edit.text: Text.of(edit.text).words for edit in found(engine, TEXTS[2], versions=500).edits}
    chosen = [edit.text for edit in found(engine, TEXTS[2], versions=4, select="diverse").edits]
    before = [Text.of(TEXTS[2]).words]

    def far(words: tuple[str, ...]) -> float:
        return min(edit_distance(one, words) / max(len(one), len(words)) for one in before)

    assert len(chosen) == 4
    for text in chosen:
        assert far(every[text]) == max(far(words) for words in every.values())
        before.append(every[text])


def test_the_wanted_label_comes_first_and_must_be_named() -> None:
    engine = here()
    e = assay.explain(
        engine.model, TEXTS[0], "polyjuice", engine=engine, against="bad", select="label", versions=20, **PLAIN
    )
    chances = [edit.prediction["bad"] for edit in e.edits]
    assert chances
    assert chances == sorted(chances, reverse=True)
    with pytest.raises(BadInput, match="against"):
        found(engine, TEXTS[0], select="label")


def test_of_a_pair_the_hypothesis_is_edited_or_the_named_text() -> None:
    engine, pair = here(), ("the film is good", "this is a good film")
    e = found(engine, pair)
    assert e.edits
    assert all(edit.strings[0] == pair[0] and edit.strings[1] != pair[1] for edit in e.edits)
    other = found(engine, pair, field="premise")
    shown = other.edits or (other.nearest,)
    assert all(edit is not None and edit.strings[1] == pair[1] for edit in shown)


def test_in_a_long_text_one_piece_is_shown_and_changed() -> None:
    editor = PlantedEditor(FILLS)
    text = " ".join(f"part {i} of it is here ." for i in range(30)) + " a good film ."
    e = found(here(lambda name: editor), text, window=12, codes="negation,lexical,delete", versions=20)
    assert all(len(prompt.split()) < 60 for prompt in editor.asked)
    assert all(abs(len(edit.text) - len(text)) < 60 for edit in e.edits)
    assert e.edits


def test_where_nothing_flips_the_nearest_attempt_is_shown() -> None:
    e = found(here(), "it is what it is", codes="delete,shuffle")
    assert e.edits == ()
    assert e.nearest is not None
    assert not e.nearest.flips
    assert "no version was found" in e.warnings[0]


def test_rules_alone_take_no_editor() -> None:
    def nobody(name: str) -> Any:
        raise AssertionError(name)

    bow = tiny.linear_bow()
    engine = Engine(assay.load((bow.model, bow.tokenizer)), resolve=nobody)
    e = found(engine, "this is a very good film", codes="delete,shuffle")
    assert e.facts["counts"]["written"] == 0
    assert e.facts["counts"]["candidates"] > 0


def test_parts_of_speech_are_asked_where_they_decide() -> None:
    tagger = assay.load(tiny.token_tagger())
    editor = PlantedEditor(FILLS)
    asked: list[str] = []

    def others(name: str) -> Any:
        asked.append(name)
        return tagger if name == "tagger" else editor

    found(here(others), TEXTS[0], tagger="tagger", codes="negation,insert")
    assert "tagger" not in asked
    found(here(others), TEXTS[0], tagger="tagger", codes="lexical")
    assert "tagger" in asked


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"codes": "rewrite"}, "no code 'rewrite'"), ({"samples": 0}, "samples"), ({"temperature": 0.0}, "temperature")],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        found(here(), TEXTS[0], **settings)


def test_an_editor_that_does_not_write_and_a_model_without_labels_are_refused() -> None:
    with pytest.raises(BadInput, match="no editor"):
        found(here(lambda name: assay.load(tiny.masked_lm())), TEXTS[0])
    with pytest.raises(BadInput, match="answers freely"):
        assay.explain(tiny.causal_lm("gpt2"), "The film", "polyjuice", **PLAIN)


def test_the_kind_of_an_edit_is_saved_tabled_and_shown() -> None:
    from io import StringIO

    from rich.console import Console

    from assay.views.versions import terminal

    e = found(here(), TEXTS[0], codes="negation")
    assert Edits.from_dict(e.to_dict()).edits == e.edits
    assert list(e.to_frame()["code"]) == ["negation"] * len(e.edits)
    stream = StringIO()
    Console(file=stream, width=100, color_system=None).print(terminal(e))
    assert stream.getvalue().count("(negation)") == len(e.edits) > 0
