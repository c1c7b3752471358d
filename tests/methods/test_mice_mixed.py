"""MiCE with both editors: which versions come back, in which order, whose they are, and what the writer is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.rewritten import Rewritten
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants
from planted_writers import PlantedWriter

TEXTS = ["a funny film", "the plot was dull", "this is a very good film", "the children laughed and the parents cried"]
WORDS = ["bad", "dull", "good", "funny", "great", "the worst film", "a very good plot", "boring"]
Writes = Callable[[str], Mapping[str, float]]


def fills(prompt: str) -> dict[str, float]:
    """As many random fills as there are blanks."""
    _, shown = prompt.split(": ", 1)
    rng = np.random.default_rng(sum(map(ord, shown)))
    answers = {" | ".join(rng.choice(WORDS, shown.count("[BLANK]"))) for _ in range(12)}
    return dict.fromkeys(sorted(answers), 1 / len(answers))


def engine(writes: Writes = fills) -> Engine:
    bow, masked = tiny.linear_bow(), assay.load(tiny.masked_lm())
    others = {"mlm": masked, "planted": PlantedWriter(writes, ask="\nfills:")}
    return Engine(assay.load((bow.model, bow.tokenizer)), resolve=others.__getitem__)


def found(here: Engine, text: str, editor: str = "mlm+planted", **settings: Any) -> Edits:
    return assay.explain(here.model, text, "mice", engine=here, editor=editor, **settings)  # type: ignore[no-any-return]


def fluency(before: str, after: str) -> float:
    """By plain torch: mean log p of the words near the edit, less that of those near it in the text."""
    network, tokenizer = tiny.masked_lm()
    parts = [Text.of(before).words, Text.of(after).words]
    blocks = [op[1:] for op in SequenceMatcher(None, *parts, autojunk=False).get_opcodes() if op[0] != "equal"]
    means = []
    for words, at in zip(parts, (0, 2), strict=True):
        near = {i for block in blocks for i in range(block[at] - 3, block[at + 1] + 3)}
        logs = []
        for i in sorted(near & set(range(len(words)))):
            ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(words[i]))
            left, right = (
                tokenizer(" ".join(some), add_special_tokens=False)["input_ids"] for some in (words[:i], words[i + 1 :])
            )
            row = [tokenizer.cls_token_id, *left, *[tokenizer.mask_token_id] * len(ids), *right, tokenizer.sep_token_id]
            with torch.no_grad():
                logits = network(input_ids=torch.tensor([row])).logits[0].log_softmax(-1)
            logs.append(sum(float(logits[1 + len(left) + j, token]) for j, token in enumerate(ids)))
        means.append(np.mean(logs))
    return float(means[1] - means[0])


def test_what_comes_back_flips_and_is_never_larger_than_by_the_masked_model_alone() -> None:
    here, editors = engine(), set[str]()
    for text in TEXTS:
        e, alone = found(here, text), found(here, text, "mlm")
        for edit in e.edits:
            (chances,) = here.ask(Predict(Text.of(edit.text))).probabilities
            assert int(chances.argmax()) == e.facts["goal"]["wanted"] != e.target
        sizes = [Rewritten(e.text, edit.text).size for edit in e.edits]
        assert sizes == sorted(sizes)
        assert 1 <= len(sizes) == len(e.facts["editors"]) <= 3
        assert sizes[0] <= Rewritten(e.text, alone.edits[0].text).size
        assert len({edit.text for edit in e.edits}) == len(sizes)
        assert e.facts["editor"] == "mlm+planted"
        editors |= set(e.facts["editors"])
    assert editors == {"mlm", "planted"}


def test_of_equally_small_versions_the_likeliest_near_the_edit_comes_first_whoever_wrote_it() -> None:
    here, compared = engine(), 0
    for text in TEXTS:
        e = found(here, text, versions=6)
        ranks = [(Rewritten(e.text, one.text).size, -fluency(text, one.text)) for one in e.edits]
        assert [size for size, _ in ranks] == sorted(size for size, _ in ranks)
        for (size, rank), (other, worse) in pairwise(ranks):
            assert size < other or rank <= worse + 1e-5
            compared += size == other
    assert compared > 3


def test_the_writer_is_asked_once_for_the_words_that_the_masked_model_needed_and_for_a_few_more() -> None:
    asked: list[str] = []

    def record(prompt: str) -> Mapping[str, float]:
        asked.append(prompt)
        return fills(prompt)

    e = found(engine(record), TEXTS[3], samples=8)
    masked, written = ([step for step in e.facts["path"] if step["by"] == name] for name in ("mlm", "planted"))
    fewest = min(step["changed"] for step in masked if step["changed"])
    assert [step["holes"] for step in written] == [fewest, fewest + 1]  # .55 of 7 words in 2 ** 4 steps, rounded up
    assert len(set(asked)) == 2
    assert e.facts["fills"] == {"written": 8, "malformed": 0}


def test_where_the_masked_model_finds_nothing_the_writer_searches() -> None:
    """A text that one other word does not turn, but many of them do."""
    weights = tiny.linear_bow().weights
    words = sorted((w for w in weights if w.isascii() and w.isalpha()), key=weights.__getitem__)
    text, settings = " ".join(words[-4:]), {"share": 0.25, "top": 3, "rounds": 1}
    much = " ".join([words[0]] * 12)
    here = engine(lambda prompt: {" | ".join([much] * prompt.count("[BLANK]")): 1.0})
    alone, e = found(here, text, "mlm", **settings), found(here, text, **settings)
    assert not alone.edits
    assert e.edits
    assert set(e.facts["editors"]) == {"planted"}
    none = found(engine(lambda prompt: {"| | | | | | |": 1.0}), text, **settings)
    assert not none.edits
    assert none.facts["editors"] == []
    wanted = none.facts["goal"]["wanted"]
    nearest, other = (list(e.nearest.prediction.values())[wanted] for e in (none, alone))
    assert nearest > other  # by a word that the gradient picked
    assert "no version was found" in none.warnings[0]


def test_where_likely_words_do_nothing_the_gradient_picks_less_likely_ones() -> None:
    """Of a linear model the gradient is what a word changes: beside a loop over all words of the editor."""
    weights, top = tiny.linear_bow().weights, 3
    words = sorted((w for w in weights if w.isascii() and w.isalpha()), key=weights.__getitem__)
    text, silent = " ".join(words[-6:]), engine(lambda prompt: {"| | | | | | |": 1.0})
    assert not found(silent, text, "mlm", top=top).edits
    e = found(silent, text, top=top)
    assert [step.get("guided") for step in e.facts["path"] if step["by"] == "mlm"] == [None, True]
    assert e.edits
    assert set(e.facts["editors"]) == {"mlm"}
    here, (first, *_) = engine(), e.edits
    for _, hole, _, new in first.operations:
        rows = np.array([list(e.text.words)], dtype=object)
        rows[0, hole] = None
        (fill,) = here.ask(Fill(Variants(e.text, np.zeros(rows.shape, dtype=bool), rows), model="mlm", k=20 * top))
        assert weights[new] < min(weights.get(word, 0.0) for word in fill.words[0][:top])


def test_of_a_long_text_the_masked_model_fills_a_few_words_and_the_writer_as_many_as_it_takes() -> None:
    """What the masked model costs grows with each word; a text that many words hold where it is, is for the writer."""
    weights = tiny.linear_bow().weights
    words = sorted((w for w in weights if w.isascii() and w.isalpha()), key=weights.__getitem__)
    here = engine(lambda prompt: {" | ".join([words[0]] * prompt.count("[BLANK]")): 1.0})
    e = found(here, " ".join(words[-25:]), top=2, beam=1, samples=4)
    holes = {name: [step["holes"] for step in e.facts["path"] if step["by"] == name] for name in ("mlm", "planted")}
    assert holes["mlm"] == [6, 12]  # the second time with words that the gradient picks
    assert holes["planted"][:3] == [7, 11, 14]  # half, three quarters and all of .55 of 25 words, rounded up
    assert e.facts["fills"]["written"] == 6 + 4 * (len(holes["planted"]) - 3)  # these three share the four samples
    assert e.edits


def test_what_no_words_turn_costs_a_bounded_number_of_answers() -> None:
    """Four rounds: one of three shares, and three of half of it from the best versions."""
    weights = tiny.linear_bow().weights
    words = sorted((w for w in weights if w.isascii() and w.isalpha()), key=weights.__getitem__)
    rng = np.random.default_rng(0)
    here = engine(lambda prompt: {" | ".join(rng.choice(words[-9:], prompt.count("[BLANK]"))): 1.0})
    e = found(here, " ".join(words[-25:]), top=2, beam=2, samples=6)
    holes = [step["holes"] for step in e.facts["path"] if step["by"] == "planted"]
    assert not e.edits
    assert holes == [7, 11, 14, 7, 7, 7]
    assert e.facts["fills"]["written"] == 4 * 6


def test_a_round_that_failed_goes_on_from_the_version_nearest_to_the_label() -> None:
    """Not from the text itself, which a likelihood of fills would prefer: it has none."""
    weights = tiny.linear_bow().weights
    words = sorted((w for w in weights if w.isascii() and w.isalpha()), key=weights.__getitem__)
    weak, asked = words[len(words) // 4], list[int]()

    def writes(prompt: str) -> Mapping[str, float]:
        asked.append(len(prompt.split(": ", 1)[1].split()))
        return {" | ".join([weak] * prompt.count("[BLANK]")): 1.0}

    e = found(engine(writes), " ".join(words[-25:]), top=2, beam=2, share=0.3)
    holes = [step["holes"] for step in e.facts["path"] if step["by"] == "planted"]
    assert holes == [4, 6, 8, 4, 4, 4]
    assert min(asked[3:]) < min(asked[:3])  # a fill stands for several words, so the versions are shorter


def test_alone_and_in_company_the_same() -> None:
    here = engine()
    together = assay.explain(here.model, TEXTS, "mice", engine=here, editor="mlm+planted")
    for text, e in zip(TEXTS, together, strict=True):
        alone = found(engine(), text)
        assert [edit.text for edit in alone.edits] == [edit.text for edit in e.edits]
        assert alone.facts["editors"] == e.facts["editors"]


def test_what_stands_behind_the_masked_model_must_write() -> None:
    here = engine()
    with pytest.raises(BadInput, match="mlm writes nothing"):
        found(here, TEXTS[0], "mlm+mlm")
