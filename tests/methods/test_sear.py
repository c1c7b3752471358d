"""SEAR: planted rules are found first, greedy choice by a slow loop, texts set aside, meaning, errors."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, EmptyText
from assay.explanations.rules import Rules
from assay.methods.rules.changes import changed_parts, neighbours, rules_of
from assay.methods.rules.sear import Sear
from assay.models import TextModel
from assay.text.text import Text
from assay.text.word_rules import WordRule
from planted_writers import BagEncoder, PlantedWriter

SWAPS = {"film": "movie", "good": "fine", "kids": "children", "never": "not once", "boy": "lad"}
PLANTED = {"movie", "children"}  # of the two the first is more frequent
SUBJECTS = ["the boy", "a dog", "our kids", "my friend", "a teacher", "her sister"]
SENTENCES = [
    f"{subject} never saw a good {thing} {place}"
    for subject in SUBJECTS
    for thing in ("film", "play", "film", "book", "film")
    for place in ("in town", "at home", "so far")
]


def rewrites(x: str) -> dict[str, float]:
    """The text, and the text with each of its words that has a synonym replaced, all as likely."""
    found = [x, *(" ".join(SWAPS[w] if w == old else w for w in x.split()) for old in SWAPS if old in x.split())]
    return dict.fromkeys(found, 1 / len(found))


def on_words(texts: list[Any]) -> np.ndarray:
    said = np.array([bool(PLANTED & set((text if isinstance(text, str) else text[-1]).split())) for text in texts])
    return np.where(said[:, None], [0.8, 0.2], [0.1, 0.9])


@cache
def model() -> TextModel:
    return assay.BlackBox(on_words, labels=["bad", "good"], name="planted")


def engine(table: Any = rewrites) -> Engine:
    encoder = BagEncoder({new: old for old, new in SWAPS.items()})
    others = {"mlm": encoder, "tagger": assay.load(tiny.token_tagger())}
    return Engine(model(), resolve=lambda name: others.get(name) or PlantedWriter(table))


def made(texts: Any = SENTENCES, table: Any = rewrites, **settings: Any) -> Rules:
    how = {"progress": False, "tagger": None, **settings}
    return assay.describe(model(), texts, "sear", engine=engine(table), **how)  # type: ignore[no-any-return]


def test_the_planted_rule_is_found_first_and_holds_on_texts_that_were_set_aside() -> None:
    e = made()
    assert [rule.rule for rule in e.rules] == ["film → movie", "kids → children"]
    first = e.rules[0].numbers
    assert first["flip_rate"] == 1
    assert first["held_out_rate"] == 1
    assert first["held_out_matches"] == first["held_out_flips"] > 10
    assert first["low"] == pytest.approx(0.025 ** (1 / first["held_out_matches"]))  # Clopper and Pearson, all of n
    assert first["high"] == 1
    films = sum("film" in text.split() for text in SENTENCES)
    assert first["matches"] + first["held_out_matches"] == films
    assert first["coverage"] == pytest.approx(films / len(SENTENCES))
    assert e.facts["searched"] == len(SENTENCES) // 2
    for strings, places in zip(e.rules[0].texts, first["places"], strict=True):
        assert [strings[0].split()[i] for i in places] == ["film"] * len(places)


def test_with_parts_of_speech_the_general_rule_still_wins() -> None:
    assert made(tagger="tagger").rules[0].rule == "film → movie"


def test_context_matters_where_the_model_says_so() -> None:
    """A model that flips on "good movie" alone: the rule with the word beside it is as strong and as general."""

    def chances(texts: list[str]) -> np.ndarray:
        said = np.array(["good movie" in text for text in texts])
        return np.where(said[:, None], [0.8, 0.2], [0.1, 0.9])

    texts = [*SENTENCES, *(text.replace("good", "long") for text in SENTENCES)]
    here = engine()
    here = Engine(assay.BlackBox(chances, labels=["bad", "good"]), resolve=here.resolve)
    e = assay.describe(here.model, texts, "sear", engine=here, progress=False, tagger=None)
    assert len(e.rules) == 1
    rule = e.rules[0]
    assert rule.rule == "good film → good movie"
    assert rule.numbers["held_out_rate"] == 1


def test_rules_of_a_change_are_those_of_the_paper() -> None:
    old, new = "a good film .".split(), "a good movie .".split()
    (part,) = changed_parts(old, new, 3)
    assert neighbours(part, old) == [1, 3]
    said = [str(rule) for rule in rules_of(part, old, {1: "ADJ", 3: "PUNCT"})]
    wanted = [
        "film → movie",
        "good film → good movie",
        "ADJ film → ADJ movie",
        "film . → movie .",
        "film PUNCT → movie PUNCT",
    ]
    assert said == wanted
    inserted = changed_parts(["film"], ["good", "film"], 3)
    assert [str(rule) for part in inserted for rule in rules_of(part, ["film"], {})] == ["film → good film"]
    assert changed_parts("a b c d".split(), "w x y z".split(), 3) == []


def test_a_change_applied_again_makes_the_edited_text() -> None:
    generator = np.random.default_rng(0)
    tried = 0
    for _ in range(300):
        old = generator.permutation(list("abcdef")).tolist()
        new = list(old)
        new[int(generator.integers(6))] = str(generator.choice(list("uvw")))
        for part in changed_parts(old, new, 3):
            for rule in rules_of(part, old, {}):
                assert part.start in rule.possible(old)
                assert rule.applied(Text.of(" ".join(old)), [part.start]).strings[0].split() == new
                tried += 1
    assert tried > 500


def slow_greedy(flipped: list[set[int]], picks: int) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < picks:
        covered = set().union(*(flipped[i] for i in chosen)) if chosen else set()
        gains = [len(own - covered) if i not in chosen else -1 for i, own in enumerate(flipped)]
        best = max(range(len(flipped)), key=lambda i: gains[i])
        if gains[best] <= 0:
            break
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("seed", range(10))
def test_the_choice_is_that_of_a_slow_loop(seed: int) -> None:
    """All rules that could be chosen, tried one by one, and the greedy choice among them."""
    generator = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(8)]
    turn = {word: f"v{word}" for word in words}
    texts = sorted({" ".join(generator.choice(words, 3, replace=False)) for _ in range(40)})
    flipping = {turn[word] for word in generator.choice(words, 5, replace=False)}

    def chances(given: list[str]) -> np.ndarray:
        said = np.array([bool(flipping & set(text.split())) for text in given])
        return np.where(said[:, None], [0.8, 0.2], [0.1, 0.9])

    def table(x: str) -> dict[str, float]:
        found = [x, *(x.replace(word, turn[word]) for word in x.split())]
        return dict.fromkeys(found, 1 / len(found))

    black = assay.BlackBox(chances, labels=["bad", "good"])
    encoder = BagEncoder({new: old for old, new in turn.items()})
    here = Engine(black, resolve=lambda name: encoder if name == "mlm" else PlantedWriter(table))
    e = assay.describe(
        black, texts, "sear", engine=here, progress=False, tagger=None, rules=4, flips=1, length=1, candidates=10**6,
        of="sea:samples=128,versions=10",
    )  # fmt: skip
    chosen = [WordRule.of(rule.numbers) for rule in e.rules]
    assert all(rule.left is None and rule.right is None for rule in chosen)
    matched = {str(rule.rule): rule.numbers["matches"] for rule in e.rules}
    seen = np.random.default_rng([0, int(e.sample.digest, 16)]).permutation(len(texts))[: (len(texts) + 1) // 2]
    searched = [texts[i].split() for i in sorted(seen.tolist())]
    plain = sorted(
        ({i for i, text in enumerate(searched) if word in text}, word) for word in words if turn[word] in flipping
    )
    covers = [own for own, _ in plain]
    best = sum(len(own) for own in [set().union(*(covers[i] for i in slow_greedy(covers, 4)))])
    assert e.facts["changed"] == best
    most = max(len(set().union(*some)) for some in combinations(covers, min(4, len(covers))))
    assert best >= (1 - 1 / np.e) * most
    assert matched[e.rules[0].rule] == max(map(len, covers))


def test_a_rule_that_changes_the_meaning_is_left_out() -> None:
    """The paraphraser finds texts with "movie" far too unlikely, but for those whose paraphrases made the rule."""
    films = [text for text in SENTENCES if "film" in text.split()]

    def table(x: str) -> dict[str, float]:
        movie = x.replace("film", "movie")
        return {x: 0.5, movie: 0.5} if x in films[:6] else {x: 1 - 1e-9, movie: 1e-9} if movie != x else {x: 1.0}

    assert [rule.rule for rule in made(table=table).rules] == []
    assert made(table=table, cut=-50.0).rules[0].rule == "film → movie"


def test_any_method_that_returns_versions() -> None:
    bow, encoder = tiny.linear_bow(), BagEncoder()
    adapter = assay.load((bow.model, bow.tokenizer))
    here = Engine(adapter, resolve=lambda name: encoder)
    texts = [
        "a funny film",
        "the plot was dull",
        "this is a very good film",
        "a good film",
        "a dull film",
        "a funny plot",
    ]
    e = assay.describe(
        adapter, texts * 3, "sear", engine=here, progress=False, tagger=None, flips=1, similar=-1.0,
        of="hotflip:flips=1,stop_words=any",
    )  # fmt: skip
    assert e.rules
    assert all(rule.numbers["flips"] >= 1 for rule in e.rules)
    with pytest.raises(BadInput, match="a method that returns Edits is needed"):
        Sear(of="lime")


def test_nothing_to_find_is_said() -> None:
    e = made(table=lambda x: {x: 1.0})
    assert e.rules == ()
    assert "sea changed the answer to no text, so there are no changes to make rules of" in e.warnings
    rare = made(flips=1000)
    assert rare.rules == ()
    assert any("no change of words turns the answer to 1000 texts" in warning for warning in rare.warnings)


def test_an_error_names_the_row_once() -> None:
    with pytest.raises(EmptyText, match=r"^the list, row 2: the text ' ' has no word"):
        made(["a good film", " "])

    def fails(x: str) -> dict[str, float]:
        raise BadInput("no paper left.") if x == SENTENCES[4] else BadInput("no ink left.")

    with pytest.raises(BadInput, match=r"^the list, row (\d+): no (paper|ink) left\.$") as error:
        made(table=fails)
    assert ("row 5:" in str(error.value)) == ("paper" in str(error.value))


def test_pairs_change_the_second_text() -> None:
    e = made([(("a film", text), None) for text in SENTENCES])
    assert e.rules[0].rule == "film → movie"
    assert e.facts["changes"]["field"] == "hypothesis"
    assert all(strings[0] == "a film" for strings in e.rules[0].texts)


def test_there_and_back() -> None:
    e = made()
    back = assay.Explanation.from_json(e.to_json())
    assert back.to_dict() == e.to_dict()
    assert isinstance(back, Rules)
    assert [rule.change for rule in back.rules] == [WordRule(("film",), ("movie",)), WordRule(("kids",), ("children",))]
    random = next(iter(e.random_like(1)))
    for own, other in zip(e.rules, random.rules, strict=True):
        assert other.change is not None
        assert other.change.old == own.change.old  # type: ignore[union-attr]
        assert set(other.change.new) <= set(BagEncoder.words)
        assert other.texts == own.texts


@pytest.mark.parametrize(
    "settings", [{"rules": 0}, {"flips": 0}, {"length": 0}, {"cut": 1.0}, {"similar": 2}, {"of": "no"}]
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Sear(**settings)
