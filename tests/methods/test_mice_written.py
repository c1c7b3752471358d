"""MiCE with an editor that writes: planted fills, malformed ones, long texts, what goes back, which editor is used."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, ModelNotLoaded
from assay.explanations.edits import Edits
from assay.explanations.rewritten import Rewritten
from assay.methods.counterfactuals.written_fills import FilledText, pieces, put_in, taken_back
from assay.questions.predict import Predict
from assay.text.text import Text
from planted_writers import PlantedWriter

TEXTS = ["a funny film", "the plot was dull", "this is a very good film"]
WORDS = ["bad", "dull", "good", "funny", "great", "the worst film", "a very good plot", "boring"]


def fills(prompt: str) -> dict[str, float]:
    """As many random fills as there are blanks; each third answer has one too many."""
    _, shown = prompt.split(": ", 1)
    rng = np.random.default_rng(sum(map(ord, shown)))
    blanks = shown.count("[BLANK]")
    answers = {" | ".join(rng.choice(WORDS, blanks + (i % 3 == 2))) for i in range(12)}
    return dict.fromkeys(sorted(answers), 1 / len(answers))


def engine(resolve: Callable[[str], Any] | None = None) -> Engine:
    bow = tiny.linear_bow()
    writer = PlantedWriter(fills, ask="\nfills:")
    return Engine(assay.load((bow.model, bow.tokenizer)), resolve=resolve or (lambda name: writer))


def found(here: Engine, text: str, **settings: Any) -> Edits:
    return assay.explain(here.model, text, "mice", engine=here, **{"editor": "planted", **settings})  # type: ignore[no-any-return]


def test_every_version_gets_the_label_and_no_change_could_go_back() -> None:
    here = engine()
    results = [found(here, text, samples=20) for text in TEXTS]
    assert sum(bool(e.edits) for e in results) >= 2
    for e in results:
        wanted, sizes = e.facts["goal"]["wanted"], []
        for edit in e.edits:
            (chances,) = here.ask(Predict(Text.of(edit.text))).probabilities
            assert int(chances.argmax()) == wanted != e.target
            sizes.append(FilledText(e.text, edit.text).size)
        assert sizes == sorted(sizes)
        for back in taken_back(FilledText(e.text, e.edits[0].text)) if e.edits and sizes[0] > 1 else ():
            if back.size:
                assert int(here.ask(Predict(Text.of(back.string))).probabilities[0].argmax()) != wanted
        assert e.facts["editor"] == "planted"
        assert 0 < e.facts["fills"]["malformed"] < e.facts["fills"]["written"]


def test_the_prompt_names_the_label_and_has_a_blank_for_each_run_of_hidden_words() -> None:
    asked: list[str] = []

    def record(prompt: str) -> dict[str, float]:
        asked.append(prompt)
        return fills(prompt)

    writer = PlantedWriter(record, ask="\nfills:")
    here = engine(lambda name: writer)
    e = found(here, "this is a very good film", share=1.0, levels=1, rounds=1)
    label = here.model.labels[e.facts["goal"]["wanted"]]
    assert all(prompt.startswith(f"{label.replace('_', ' ')}: ") for prompt in asked)
    assert "[BLANK] [BLANK]" not in "".join(asked)


def test_alone_and_in_company_the_same() -> None:
    here = engine()
    together = assay.explain(here.model, TEXTS, "mice", engine=here, editor="planted")
    for text, e in zip(TEXTS, together, strict=True):
        assert [edit.text for edit in found(engine(), text).edits] == [edit.text for edit in e.edits]


def test_a_writer_that_writes_nothing_readable_leaves_the_text_alone() -> None:
    writer = PlantedWriter(lambda prompt: {"| | | | | | |": 1.0}, ask="\nfills:")
    e = found(engine(lambda name: writer), "a funny film", rounds=1)
    assert not e.edits
    assert e.facts["fills"]["malformed"] == e.facts["fills"]["written"] > 0
    assert "no version was found" in e.warnings[0]


def test_fills_stand_in_the_place_of_what_was_hidden() -> None:
    words, hidden = "a b c d e".split(), [True, True, False, False, True]
    assert put_in(words, hidden, ["x y z", "w"]) == ["x y z", None, "c", "d", "w"]


def test_long_texts_are_cut_at_the_ends_of_sentences() -> None:
    words = [*["w"] * 6, ".", *["w"] * 12, "!", "w"]
    assert pieces(words, 10) == [(0, 7), (7, 17), (17, 21)]
    assert pieces(words[:5], 10) == [(0, 5)]


def test_sizes_are_word_edit_distances_whatever_was_inserted_or_removed() -> None:
    whole = Text.of("a very good film")
    assert Rewritten(whole, "a film").size == 2
    assert Rewritten(whole, "not a very good film at all").size == 3
    assert Rewritten(whole, "a bad film").size == 2


def test_a_change_is_taken_back_as_a_whole_and_word_by_word() -> None:
    version = FilledText(Text.of("a good film , really"), "a bad plot , really not")
    assert {one.string for one in taken_back(version)} == {
        "a good film , really not",
        "a good plot , really not",
        "a bad film , really not",
        "a bad plot , really",
    }
    (only,) = taken_back(FilledText(Text.of("a very good film"), "a film"))
    assert only.string == "a very good film"


def test_auto_takes_the_writer_for_its_labels_and_the_masked_model_where_there_is_none() -> None:
    masked, writer = assay.load(tiny.masked_lm()), PlantedWriter(fills, ask="\nfills:")
    bow = tiny.linear_bow()
    network = deepcopy(bow.model)  # other tests have the same model
    network.config.id2label = {0: "negative", 1: "positive"}
    model = assay.load((network, bow.tokenizer))

    def without(name: str) -> Any:
        if name.startswith("writer"):
            raise ModelNotLoaded("not installed")
        return masked

    assert model.labels == ("negative", "positive")
    with_writer = Engine(model, resolve={"writer:editor": writer, "mlm": masked}.__getitem__)
    assert found(with_writer, TEXTS[0], editor="auto").facts["editor"] == "mlm+writer:editor"
    assert found(Engine(model, resolve=without), TEXTS[0], editor="auto").facts["editor"] == "mlm"
    other = assay.load(tiny.bert())  # of three labels
    assert found(Engine(other, resolve=without), TEXTS[0], editor="auto", rounds=1).facts["editor"] == "mlm"


def test_a_classifier_is_no_editor() -> None:
    with pytest.raises(BadInput, match="is no editor"):
        found(engine(lambda name: assay.load(tiny.bert())), TEXTS[0])


def test_of_a_pair_the_editor_sees_the_other_text_and_the_labels_of_the_bundled_models_are_known() -> None:
    asked: list[str] = []

    def record(prompt: str) -> dict[str, float]:
        asked.append(prompt)
        return fills(prompt)

    shared, tokenizer = tiny.bert()
    network = deepcopy(shared)  # other tests have the same model
    network.config.id2label = dict(enumerate(("entailment", "neutral", "contradiction")))
    model = assay.load((network, tokenizer))
    masked, writer = assay.load(tiny.masked_lm()), PlantedWriter(record, ask="\nfills:")
    here = Engine(model, resolve={"mlm": masked, "writer:editor": writer}.__getitem__)
    short: dict[str, Any] = {"engine": here, "rounds": 1, "levels": 1, "samples": 2}
    e = assay.explain(model, [("the plot was dull", "a very good film")], "mice", **short)[0]
    assert e.facts["editor"] == "mlm+writer:editor"
    label = model.labels[e.facts["goal"]["wanted"]]
    assert asked
    assert all(prompt.startswith(f"{label}: the plot was dull | ") for prompt in asked)
    network.config.id2label = {0: "neutral", 1: "entailment", 2: "contradiction"}
    asked.clear()
    assay.explain(model, [("the plot was dull", "a very good film")], "mice", field="premise", **short)
    assert all(prompt.endswith(" | a very good film") for prompt in asked)
