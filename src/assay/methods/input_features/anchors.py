"""Anchors: the fewest words that hold the prediction in place, whatever becomes of the others.

    argmax over A of cov(A)   with   prec(A) = P( argmax f(z) = c | z keeps the words of A ) >= threshold

Ribeiro, Singh and Guestrin (2018), Anchors: High-Precision Model-Agnostic Explanations, AAAI,
doi:10.1609/aaai.v32i1.11491; survey, section 6.5, eq. 6. In a sample z every word outside A is erased with
probability 1/2. Rules grow by one word a level; KL-LUCB (bandits.py) picks the beam of the next level; a rule is an
anchor once the lower bound of its precision reaches the threshold. Of the rules that pass, the one with the largest
coverage is returned: the share of the corpus whose texts contain its words (in any case of letters), or without a
corpus the share of samples that keep them, 1/2 to the power of its length. All bounds of a level hold together with
probability 1 - delta; `tau`, epsilon in the paper, is how far below the best a beam may be.

Where we depart: level 0 is the empty rule, which the definition allows. Every rule of a level is put to the test, not
only its beam, and before the beam is chosen, as one that passes ends a search without a corpus; the bounds of this test
hold at any time of stopping. No step may use more than an eighth of the samples that are left, so that one close race
does not take them all (`settled` among the facts: no race for the beam was cut short); what is left in the end goes to
the rules that are nearest to their proof. The released code has a beam of 1 and is content with a lower bound 0.05
below the threshold. A rule speaks of the prediction alone: the scale of the explained number plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_rule import TokenRule
from assay.methods.input_features.bandits import Game, Tally, interval, lucb, passing, wanted
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats, Ints
from assay.text.corpus import Corpus
from assay.text.text import Masks, Text

Rule = tuple[int, ...]

_SHARE = 8  # a step may use one part in so many of the samples that are left
_BETWEEN = "\x1f"


@method(
    title="Anchors",
    row=Row.INPUT_FEATURES,
    uses=Uses.DATASET,
    paper="doi:10.1609/aaai.v32i1.11491",
    section="6.5",
    needs=(Predict,),
    returns=TokenRule,
)
@dataclass(frozen=True, kw_only=True)
class Anchors:
    """The shortest rule of words that keeps the prediction."""

    eraser: Eraser = Delete()
    threshold: float = 0.95
    delta: float = 0.1
    tau: float = 0.15
    beam: int = 4
    batch: int = 10
    limit: int = 10_000
    corpus: Corpus = Corpus()

    def explain(self, case: Case) -> Conversation[TokenRule]:
        search = _Search(self, case)
        rules: list[Rule] = [()]
        while rules and search.affords(rules):
            beam = yield from search.level(rules)
            rules = [rule for rule in _longer(beam, len(case.text)) if search.promises(rule)]
        yield from search.look_again()
        predicted = (yield Predict(case.text)).argmax()[0]
        return search.told(same=bool(predicted == case.target))


class _Tested(NamedTuple):
    """A rule and what its samples say of it."""

    rule: Rule
    coverage: float
    low: float
    high: float
    hits: int
    drawn: int

    @property
    def order(self) -> tuple[float, float, int, Rule]:
        """Among rules that pass: by coverage, then by the lower bound; fewer and earlier words among equals."""
        return (-self.coverage, -self.low, len(self.rule), self.rule)


@dataclass
class _Level:
    """Rules of one length, what each covers, and the samples drawn of each."""

    rules: list[Rule]
    coverage: Floats
    tally: Tally
    size: int

    @classmethod
    def of(cls, rules: list[Rule], coverage: Iterable[float]) -> _Level:
        return cls(rules, np.array([*coverage]), Tally.of(len(rules)), len(rules))

    def only(self, wanted: Masks) -> _Level:
        """A part of the rules; the bounds still speak of all that there were."""
        rules = [rule for rule, want in zip(self.rules, wanted, strict=True) if want]
        return _Level(rules, self.coverage[wanted], self.tally.only(wanted), self.size)

    def tested(self, delta: float) -> list[_Tested]:
        low, high = interval(self.tally, self.size, delta)
        columns = (self.coverage, low, high, self.tally.hits, self.tally.counts)
        return [_Tested(*row) for row in zip(self.rules, *(column.tolist() for column in columns), strict=True)]


@dataclass
class _Search:
    """What is found so far, and the samples that are left."""

    method: Anchors
    case: Case
    best: _Tested | None = None
    likeliest: _Tested | None = None
    rounds: int = 0
    settled: bool = True
    spent: bool = False

    def __post_init__(self) -> None:
        self.rng, self.left = self.case.generator(), self.method.limit
        self.levels: list[_Level] = []
        self.present = _presence(self.method.corpus, self.case.text) if self.method.corpus else None

    def affords(self, rules: Sequence[Rule]) -> bool:
        """Whether every rule can be sampled at least once."""
        self.spent = len(rules) > self.left
        return not self.spent

    def promises(self, rule: Rule) -> bool:
        """Whether the rule would be better than the best, if it passed."""
        return self.best is None or self.coverage(rule) > self.best.coverage

    def coverage(self, rule: Rule) -> float:
        return 0.5 ** len(rule) if self.present is None else float(self.present[:, rule].all(axis=1).mean())

    def level(self, rules: list[Rule]) -> Conversation[list[Rule]]:
        """Sample the rules, put them to the test, and choose the beam; its rules are returned."""
        level, method = _Level.of(rules, map(self.coverage, rules)), self.method
        each = np.full(len(rules), max(1, min(method.batch, self.share // len(rules))))
        level.tally.add(each, (yield from self.throw(rules, each)))
        yield from self.test(level, self.share)
        level = level.only(np.array([self.promises(rule) for rule in rules]))
        if level.rules:
            self.levels.append(level)
            race = lucb(
                level.tally, method.beam, tau=method.tau, delta=method.delta, batch=method.batch, limit=self.share
            )
            self.settled &= yield from self.play(level, race)
            yield from self.test(level, self.share)
        return [level.rules[i] for i in level.tally.best(method.beam)]

    def test(self, level: _Level, limit: int) -> Conversation[bool]:
        """Try to prove that rules of this level are anchors; whether none is left in doubt."""
        above = -1.0 if self.best is None else self.best.coverage
        method = self.method
        trial = passing(
            level.tally,
            level.coverage,
            above,
            threshold=method.threshold,
            among=level.size,
            delta=method.delta,
            batch=method.batch,
            limit=limit,
        )
        sure = yield from self.play(level, trial)
        self.note(level.tested(method.delta))
        return sure

    def look_again(self) -> Conversation[None]:
        """What is left goes to the rules that are nearest to their proof; after it every rule had its chance."""
        method = self.method
        nearest = [wanted(x.tally, x.size, method.threshold, method.delta).min() for x in self.levels]
        for i in np.argsort(nearest, kind="stable"):
            sure = yield from self.test(self.levels[i], self.left)
            self.spent |= not sure

    def note(self, tested: list[_Tested]) -> None:
        """Keep the best anchor, and the likeliest rule in case there is none."""
        known = [*tested, *([self.likeliest] if self.likeliest else [])]
        self.likeliest = min(known, key=lambda one: (-one.low, len(one.rule), one.rule))
        passed = [one for one in tested if one.low >= self.method.threshold and self.promises(one.rule)]
        self.best = min(passed, key=lambda one: one.order, default=self.best)

    @property
    def share(self) -> int:
        return self.left // _SHARE

    def play(self, level: _Level, game: Game) -> Conversation[bool]:
        """Give a game the throws it asks for; whether it ended by itself."""
        try:
            throws = next(game)
            while True:
                throws = game.send((yield from self.throw(level.rules, throws)))
        except StopIteration as stop:
            return bool(stop.value)

    def throw(self, rules: Sequence[Rule], throws: Ints) -> Conversation[Ints]:
        """So many samples of each rule, all in one question; how many of them keep the prediction."""
        drawn = np.repeat(np.arange(len(rules)), throws)
        keep = self.rng.integers(0, 2, size=(len(drawn), len(self.case.text)), dtype=np.bool_)
        keep[np.arange(len(drawn))[:, None], np.array(rules, dtype=np.int64)[drawn]] = True
        answers = yield Predict((yield from self.method.eraser.erase(self.case.text, keep)))
        self.left, self.rounds = self.left - len(drawn), self.rounds + 1
        return np.bincount(drawn[answers.argmax() == self.case.target], minlength=len(rules))

    def told(self, *, same: bool) -> TokenRule:
        found = self.best or self.likeliest
        if found is None:
            found = _Tested((), self.coverage(()), 0.0, 1.0, 0, 0)
        return TokenRule(
            self.case,
            found.rule,
            found.hits / found.drawn if found.drawn else 0.0,
            (found.low, found.high),
            found.coverage,
            found.drawn,
            facts=self.facts(found),
            warnings=tuple(self.warnings(same)),
        )

    def facts(self, found: _Tested) -> dict[str, object]:
        return {
            "certified": self.best is not None,
            "settled": self.settled,
            "precision_low": found.low,
            "precision_high": found.high,
            "coverage_of": "samples" if self.present is None else "corpus",
            "samples": self.method.limit - self.left,
            "rounds": self.rounds,
        }

    def warnings(self, same: bool) -> Iterable[str]:
        if self.best is None:
            yield f"no anchor: no rule is certain to be {self.method.threshold:.0%} precise; this is the likeliest one"
        if self.spent:
            yield f"limit: {self.method.limit:,} samples did not decide on every rule; a better one may exist"
        if not same:
            yield "not the prediction: an anchor holds a prediction in place, and the model predicts another label here"
        if self.case.against is not None:
            yield "no contrast: an anchor is about the predicted label alone, not about one label against another"


def _longer(beam: Sequence[Rule], n: int) -> list[Rule]:
    """Every rule of the beam with every word that it does not have yet."""
    return sorted({tuple(sorted({*rule, i})) for rule in beam for i in range(n) if i not in rule})


def _presence(corpus: tuple[str, ...], text: Text) -> Masks:
    """Which texts of the corpus contain which words of the text [texts, words]."""
    wanted = [_spelled(word) for word in text.words]
    return np.array([[word in line for word in wanted] for line in _lines(corpus)])


@lru_cache(maxsize=4)
def _lines(corpus: tuple[str, ...]) -> tuple[str, ...]:
    """Read once for all texts that are explained with it."""
    return tuple(map(_spelled, corpus))


def _spelled(string: str) -> str:
    """The words between marks, so that a word, or a phrase, is found as a whole."""
    return f"{_BETWEEN}{_BETWEEN.join(Text.of(string.casefold()).words)}{_BETWEEN}"
