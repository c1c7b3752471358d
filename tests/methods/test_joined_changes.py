"""Which changes are made together: beside a search written as a loop, and in SEA with a planted paraphraser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.rewritten import WordChange
from assay.methods.adversarial.joined_changes import JoinedChanges, WeighedChange, best_sets, in_turn
from planted_writers import BagEncoder, PlantedWriter


def drawn(rng: np.random.Generator) -> list[WeighedChange]:
    places = {(int(a), int(a + n), (str(w),)) for a, n, w in zip(*rng.integers(0, 9, (2, 7)), range(7), strict=True)}
    return [WeighedChange(WordChange(*p), *rng.normal(size=2).tolist()) for p in sorted(places)]


@pytest.mark.parametrize("seed", range(8))
def test_the_best_sets_by_a_slow_loop(seed: int) -> None:
    weighed = drawn(np.random.default_rng(seed))
    wanted = []
    for mask in range(2 ** len(weighed)):
        own = [one for i, one in enumerate(weighed) if mask >> i & 1]
        apart = all(a is b or a.change.end < b.change.start or b.change.end < a.change.start for a in own for b in own)
        if 2 <= len(own) <= 3 and apart and sum(one.likelier for one in own) >= -0.2:
            wanted.append((-sum(one.moved for one in own), sorted(one.change for one in own)))
    found = best_sets(weighed, most=3, least=-0.2, wanted=5)
    assert [list(one.changes) for one in found] == [changes for _, changes in sorted(wanted)[:5]]
    likelier = {one.change: one.likelier for one in weighed}
    for one in found:
        assert one.likelier == pytest.approx(sum(likelier[change] for change in one.changes))


@pytest.mark.parametrize("seed", range(4))
def test_sets_that_go_on_from_others_keep_their_numbers(seed: int) -> None:
    weighed = drawn(np.random.default_rng(seed))
    first = weighed[0].change
    start = JoinedChanges((first,), 5.0, 1.0)  # it turned out to move more than was thought
    others = [one for one in weighed if not one.change.meets(first)]
    found = best_sets(weighed, most=1, least=-9.0, wanted=99, start=[start])
    wanted = sorted((-5.0 - one.moved, tuple(sorted((first, one.change))), 1.0 + one.likelier) for one in others)
    assert [(-one.moved, one.changes, one.likelier) for one in found] == wanted


def test_two_orders_in_turn() -> None:
    a, b, c = (WordChange(i, i + 1, ()) for i in range(3))
    assert in_turn([a, b, c], [c, b, a]) == [a, c, b]


TEXT = "he does n't like the old film about a dog"
SHORT, MOVIE = TEXT.replace("does n't", "doesn't"), TEXT.replace("film", "movie")
BOTH = SHORT.replace("film", "movie")
CHANCES = {SHORT: 0.6, TEXT: 0.2, BOTH: 0.15, MOVIE: 0.05}


class Written(dict[str, float]):
    """What the paraphraser writes is less than what it can judge: it never makes both changes at once."""

    def get(self, text: str, default: Any = None) -> Any:
        return CHANCES.get(text, default)


def on_movie(texts: list[Any]) -> np.ndarray:
    return np.array([[0.8, 0.2] if "movie" in text else [0.1, 0.9] for text in texts])


@pytest.mark.parametrize(("combined", "expected"), [(2, [BOTH]), (0, [])])
def test_a_change_that_makes_the_text_likelier_pays_for_one_that_turns_it(combined: int, expected: list[str]) -> None:
    """`movie` alone has S = 1/4; with the other change the text is 3/4 as likely as it was."""
    encoder = BagEncoder({"movie": "film"})
    writer = PlantedWriter(lambda x: Written({SHORT: 0.7, TEXT: 0.2, MOVIE: 0.1}))
    model = assay.BlackBox(on_movie, labels=["bad", "good"], name="on movie")
    engine = Engine(model, resolve=lambda name: encoder if name == "mlm" else writer)
    e = assay.explain(
        model, TEXT, "sea", engine=engine, combined=combined, threshold=0.7, similar=0.5, samples=1, beams=3,
        temperatures=(0.1,), progress=False,
    )  # fmt: skip
    assert [edit.text for edit in e.edits] == expected
    assert all(edit.scores["S"] == pytest.approx(0.75) for edit in e.edits)


@pytest.mark.parametrize(("rounds", "expected"), [(1, []), (2, [BOTH.replace("dog", "hound")])])
def test_further_rounds_go_on_from_the_best_sets(rounds: int, expected: list[str]) -> None:
    """The model wants both words, and `doesn't` pays for them: three changes, of which a round makes two."""

    def on_both(texts: list[Any]) -> np.ndarray:
        bad = [0.3 * ("movie" in text) + 0.3 * ("hound" in text) + 0.1 for text in texts]
        return np.array([[chance, 1 - chance] for chance in bad])

    single = {SHORT: 0.3, MOVIE: 0.1, TEXT.replace("dog", "hound"): 0.1, TEXT: 0.2}
    others = {SHORT: 0.9, BOTH: 0.45, SHORT.replace("dog", "hound"): 0.15, BOTH.replace("dog", "hound"): 0.15}
    encoder, writer = BagEncoder({"movie": "film", "hound": "dog"}), PlantedWriter(lambda x: Judged(single, others))
    model = assay.BlackBox(on_both, labels=["bad", "good"], name="on both")
    engine = Engine(model, resolve=lambda name: encoder if name == "mlm" else writer)
    e = assay.explain(
        model, TEXT, "sea", engine=engine, combined=2, rounds=rounds, threshold=0.7, similar=0.5, samples=1, beams=4,
        temperatures=(0.1,), progress=False,
    )  # fmt: skip
    assert [edit.text for edit in e.edits] == expected


class Judged(dict[str, float]):
    """What is written, and what is judged besides."""

    def __init__(self, written: dict[str, float], judged: dict[str, float]) -> None:
        total = sum(written.values())
        super().__init__({text: chance / total for text, chance in written.items()})
        self.judged = {**written, **judged}

    def get(self, text: str, default: Any = None) -> Any:
        return self.judged.get(text, default)


@pytest.mark.parametrize(("entails", "expected"), [(0.6, []), (0.4, [BOTH])])
def test_a_judge_must_find_that_each_follows_from_the_other(entails: float, expected: list[str]) -> None:
    def follows(pairs: list[Any]) -> np.ndarray:
        sure = np.array([0.9 if "movie" in hypothesis else 0.5 for _, hypothesis in pairs])
        return np.stack([1 - sure, sure], axis=1)

    judge = assay.BlackBox(follows, labels=["other", "Entailment"], name="follows")
    judge.fields = ("premise", "hypothesis")
    encoder = BagEncoder({"movie": "film"})
    writer = PlantedWriter(lambda x: Written({SHORT: 0.7, TEXT: 0.2, MOVIE: 0.1}))
    known = {"mlm": encoder, "follows": judge}
    model = assay.BlackBox(on_movie, labels=["bad", "good"], name="on movie")
    engine = Engine(model, resolve=lambda name: known.get(name, writer))
    settings = {"threshold": 0.7, "similar": 0.5, "samples": 1, "temperatures": (0.1,), "swaps": 0}
    e = assay.explain(model, TEXT, "sea", engine=engine, judge="follows", entails=entails, beams=3, **settings)
    assert [edit.text for edit in e.edits] == expected
    assert all(edit.scores["entailed"] == pytest.approx(0.5) for edit in e.edits)
    with pytest.raises(BadInput, match="no judge of meaning"):
        assay.explain(model, TEXT, "sea", engine=engine, judge="mlm", beams=3, **settings)


def likely_words(words: list[str], place: int, k: int) -> list[str]:
    """By plain torch: the likeliest whole words of a masked model in a place."""
    network, tokenizer = tiny.masked_lm()
    holed = " ".join([*words[:place], tokenizer.mask_token, *words[place + 1 :]])
    ids = tokenizer(holed, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = network(input_ids=ids).logits[0][ids[0] == tokenizer.mask_token_id][0]
    order = tokenizer.convert_ids_to_tokens(logits.argsort(descending=True).tolist())
    return [word for word in order if not word.startswith(("##", "["))][:k]


def test_other_words_are_those_that_the_encoder_finds_likely_and_the_paraphraser_judges() -> None:
    def on_change(texts: list[Any]) -> np.ndarray:
        return np.array([[0.1, 0.9] if text == TEXT else [0.8, 0.2] for text in texts])

    masked, writer = assay.load(tiny.masked_lm()), PlantedWriter(lambda x: Written({TEXT: 1.0}))
    model = assay.BlackBox(on_change, labels=["bad", "good"], name="on change")
    engine = Engine(model, resolve=lambda name: masked if name == "mlm" else writer)
    settings = {"similar": -1.0, "threshold": 0.0, "layer": -1, "combined": 0, "versions": 99, "judged": 99}
    assert not assay.explain(model, TEXT, "sea", engine=engine, swaps=0, **settings).edits
    found = assay.explain(model, TEXT, "sea", engine=engine, swaps=3, **settings).edits
    made = {(place, new) for edit in found for _, place, _, new in edit.operations}
    words = TEXT.split()
    wanted = {
        (place, new)
        for place in (words.index(word) for word in ("old", "film", "dog"))  # the others are words of grammar
        for new in likely_words(words, place, 4)
        if new.isalpha() and new != words[place]
    }
    assert made == wanted
    assert all(edit.scores["S"] < 1e-6 for edit in found if edit.text not in CHANCES)
