from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.methods.counterfactuals.word_order import WordOrder
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Symbol, Variants

TEXTS = ["a funny film", "the plot was dull", "the children laughed and the parents cried", "this is a very good film"]


@pytest.fixture(scope="module")
def engine() -> Engine:
    bow, editor = tiny.linear_bow(), assay.load(tiny.masked_lm())
    return Engine(assay.load((bow.model, bow.tokenizer)), resolve=lambda name: editor)


def test_every_version_gets_the_contrast_label_and_no_word_changed_for_nothing(engine: Engine) -> None:
    found = assay.explain(engine.model, TEXTS, "mice", engine=engine, versions=4)
    assert sum(bool(e.edits) for e in found) >= 3
    for e in found:
        wanted = e.facts["goal"]["wanted"]
        for edit in e.edits:
            assert int(np.argmax(list(edit.prediction.values()))) == wanted != e.target
            assert edit.flips
        sizes = [len(edit.operations) for edit in e.edits]
        assert sizes == sorted(sizes)
        if e.edits:
            best = e.edits[0]
            words = list(Text.of(best.text).words)
            for _, i, old, _ in best.operations if len(best.operations) > 1 else ():
                back = e.text.with_words([*words[:i], old, *words[i + 1 :]])
                chances = engine.ask(Predict(back)).probabilities[0]
                assert int(chances.argmax()) != wanted, "a word could go back"


def test_no_single_word_would_have_done_where_two_were_changed(engine: Engine) -> None:
    """With every word a hole and every candidate in the beam, one change is found wherever one is enough."""
    text = Text.of("this is a very good film")
    e = assay.explain(engine.model, str(text), "mice", engine=engine, share=1.0, top=500, beam=500)
    enough = False
    for i, share in product(range(len(text)), (1, 2, 3, 6)):
        holes = sorted({i, *range(share)})
        rows = np.array([list(text.words)], dtype=object)
        rows[0, holes] = Symbol.MASK
        rows[0, i] = None
        (fill,) = engine.ask(Fill(Variants(text, np.zeros(rows.shape, dtype=bool), rows), model="mlm", k=500))
        new = [text.replace(i, word) for word in fill.words[0] if any(map(str.isalnum, word))]
        answers = engine.ask(Predict(*new)).probabilities
        enough |= bool((answers.argmax(axis=1) == e.facts["goal"]["wanted"]).any())
    assert (len(e.edits[0].operations) == 1) == enough


def test_the_contrast_is_the_second_likeliest_label_or_the_one_that_is_named() -> None:
    editor = assay.load(tiny.masked_lm())
    engine = Engine(assay.load(tiny.bert()), resolve=lambda name: editor)
    e = assay.explain(engine.model, "a funny film", "mice", engine=engine, rounds=1, top=5)
    chances = list(e.prediction.values())
    assert e.facts["goal"]["wanted"] == int(np.argsort(chances)[-2])
    labels = engine.model.labels
    named = next(i for i in range(len(labels)) if i != int(np.argmax(chances)))
    one = assay.explain(engine.model, "a funny film", "mice", engine=engine, rounds=1, top=5, against=labels[named])
    assert one.facts["goal"]["wanted"] == named


def test_alone_and_in_company_the_same(engine: Engine) -> None:
    together = assay.explain(engine.model, TEXTS, "mice", engine=engine, top=10)
    for text, e in zip(TEXTS, together, strict=True):
        (alone,) = assay.explain(engine.model, [text], "mice", engine=engine, top=10)
        assert [edit.text for edit in alone.edits] == [edit.text for edit in e.edits]


def test_the_path_says_how_the_search_went(engine: Engine) -> None:
    e = assay.explain(engine.model, TEXTS[2], "mice", engine=engine)
    assert e.facts["path"][0]["share"] == 0.275
    assert e.facts["path"][0]["holes"] == 2
    assert all(0 < step["share"] <= 0.55 for step in e.facts["path"])


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadInput, match="share above 0"):
        assay.explain(assay.load(tiny.bert()), "a film", "mice", share=0)


def test_masks_in_variants_stay_masks(engine: Engine) -> None:
    text = Text.of("a funny film")
    rows = np.array([["a", Symbol.MASK, None], ["a", None, None]], dtype=object)
    one, two = Fill(Variants(text, np.zeros((2, 3), dtype=bool), rows), model="mlm").rows(engine.resolve("mlm"))
    mask = engine.resolve("mlm").spelling[Symbol.MASK]
    assert one.text.words[1] == mask
    assert one.keep == (True, True, False)
    assert two.text.words[2] == mask
    assert two.keep == (True, False, True)


@pytest.mark.parametrize("mask", ["gradient", "random"])
def test_no_word_beyond_the_window_is_changed(mask: str) -> None:
    """The model reads 64 tokens: what stands behind them cannot change its answer."""
    model, editor = assay.load(tiny.bert()), assay.load(tiny.masked_lm())
    here = Engine(model, resolve=lambda name: editor)
    text = " ".join(["a funny film that never lets go of its audience"] * 12)
    e = assay.explain(model, text, "mice", engine=here, mask=mask, levels=2, rounds=1, beam=1, top=5)
    assert e.unseen[0][0] > e.spans[-1][0]
    assert len(e.words) < len(Text.of(text))
    for edit in e.edits or (e.nearest,):
        assert edit.operations
        assert all(old == e.words[i] for _, i, old, _ in edit.operations)
    assert max(entry["holes"] for entry in e.facts["path"]) <= len(e.words)


def test_random_masks_hide_the_same_words_in_another_order_for_each_text_and_seed(engine: Engine) -> None:
    text = Text.of("this is a very good film , so good")
    orders = {
        (mask, seed): next(engine.run([WordOrder(mask, 1, seed)(text)])).get()
        for mask in ("gradient", "random")
        for seed in (0, 1)
    }
    assert orders["gradient", 0] == orders["gradient", 1]
    assert orders["random", 0] != orders["random", 1]
    assert all(sorted(order) == [0, 1, 2, 3, 4, 5, 7, 8] for order in orders.values())
