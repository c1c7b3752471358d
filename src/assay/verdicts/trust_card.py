"""The trust card: several methods on the same texts, how each stands its tests, how far they agree, which one to use.

How far they agree is measured in `assay.verdicts.agreement`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from assay.explanations.rationale import Rationale
from assay.explanations.showable import Showable
from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.verdicts.agreement import Agreement, strongest
from assay.verdicts.standing import Standing, listed, same_eraser, title_of

NEAR = 0.99
_ALIKE, _UNLIKE = 0.5, 0.3  # tau from which two maps tell the same story, and below which they tell two
_LONGEST = 40
_FAINT = 0.1  # a word of less than this share of the strongest one is not worth a mention


@dataclass(frozen=True, eq=False)
class TrustCard(Showable):
    """What a user reads before believing a heat map; `left_out` are the checks that could not be asked, and why."""

    standings: tuple[Standing, ...]
    model: str = ""
    seed: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict)
    unit: str = "word"  # what a score is of: in a long text a sentence, a phrase or another part
    inside: TrustCard | None = None  # of a long text, the card of the words inside its strongest parts
    how: str = ""  # how a long text was taken
    here: str = "on this text"  # where the answer holds, if there is one text
    reason: Rationale | None = None  # what a writer says for the answer

    @property
    def explanations(self) -> dict[str, tuple[TokenScores, ...]]:
        """Each method's maps, one a text."""
        return {standing.name: standing.explanations for standing in self.standings}

    @property
    def verdicts(self) -> dict[str, tuple[Verdict, ...]]:
        """Each method's verdicts, one a check; two settings of a method have names of their own."""
        return {standing.name: standing.verdicts for standing in self.standings}

    @property
    def sentences(self) -> dict[str, str]:
        """The verdict on each method in one sentence."""
        return {standing.name: standing.sentence for standing in self.standings}

    @cached_property
    def agreement(self) -> Agreement:
        return Agreement.of(self.standings)

    @property
    def texts(self) -> int:
        return len(self.standings[0].explanations)

    @property
    def first(self) -> TokenScores:
        return self.standings[0].first

    @cached_property
    def ordered(self) -> tuple[Standing, ...]:
        """The methods, those that pass most tests first."""
        return tuple(sorted(self.standings, key=lambda standing: standing.rank))

    @property
    def best(self) -> Standing | None:
        """The method to use, if there is one."""
        return self.ordered[0] if self.ordered[0].level == "yes" else None

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Warnings that hold for every method."""
        shared = self._own(self.standings[0]) if len(self.standings) > 1 else ()
        return (
            *_notes(self),
            *_one_eraser(self),
            *(warning for warning in shared if all(warning in standing.cautions for standing in self.standings)),
        )

    def _own(self, standing: Standing) -> list[str]:
        """The warnings of a method, but not that on its eraser where one note stands for several methods."""
        favoured = same_eraser(standing) if standing.favoured and any(_one_eraser(self)) else None
        return [warning for warning in standing.cautions if warning != favoured]

    def cautions(self, standing: Standing) -> list[str]:
        """Warnings that hold for this method alone."""
        return [warning for warning in self._own(standing) if warning not in self.notes]

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings: of the texts first, then of each method."""
        return (
            *self.notes,
            *(f"{standing.title}: {warning}" for standing in self.standings for warning in self.cautions(standing)),
        )

    @cached_property
    def summary(self) -> str:
        """Which method to use, in plain words; or that none can be trusted."""
        return " ".join(_summary(self))

    @cached_property
    def accord(self) -> str:
        """How far the methods agree, in a sentence."""
        return _accord_on_one(self) if self.texts == 1 else _accord_on_many(self)

    def close_to(self, standing: Standing) -> list[Standing]:
        """The other methods that tell the same story."""
        row = self.agreement.tau[self.standings.index(standing)]
        return [t for t, value in zip(self.standings, row, strict=True) if t is not standing and value >= _ALIKE]

    def __repr__(self) -> str:
        texts = f"{self.texts} text{'' if self.texts == 1 else 's'}"
        lines = [f"{standing.title}: {standing.sentence}" for standing in self.ordered]
        return "\n  ".join([f"TrustCard of {texts}, {self.model or 'a model'}: {self.summary}", *lines])

    def to_dict(self) -> dict[str, Any]:
        best = self.best
        return {
            "model": self.model,
            "seed": self.seed,
            "texts": self.texts,
            "summary": self.summary,
            **({"unit": self.unit, "how": self.how} if self.how else {}),
            **({"inside": self.inside.to_dict()} if self.inside else {}),
            **({"rationale": self.reason.to_dict()} if self.reason else {}),
            "use": best.name if best else None,
            "warnings": list(self.warnings),
            "agreement": self.agreement.to_dict(),
            "left_out": dict(self.left_out),
            "methods": [standing.to_dict() for standing in self.standings],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)


def certain(e: TokenScores) -> bool:
    """Whether the explained label's probability is so near 0 or 1 that it can hardly move."""
    chance = e.prediction.get(e.label, 0.5)
    return chance > NEAR or chance < 1 - NEAR


def _notes(card: TrustCard) -> Iterator[str]:
    maps = card.standings[0].explanations
    if sure := sum(map(certain, maps)):
        yield f"near-certain prediction{_of_texts(sure, len(maps))}: {_saturated(card.first)}"
    if cut := [e for e in maps if e.truncated]:
        yield f"truncated: {_cut(cut[0]) if len(maps) == 1 else _cut_texts(len(cut))}"


def _cut(e: TokenScores) -> str:
    words = f"{len(e.unseen)} words lie" if len(e.unseen) > 1 else "1 word lies"
    return f"{words} beyond the model's window; the model did not see them"


def _cut_texts(some: int) -> str:
    return (
        f"{some} texts were longer than the model's window" if some > 1 else "1 text was longer than the model's window"
    )


def _of_texts(some: int, all_of_them: int) -> str:
    return "" if all_of_them == 1 else f" in {some} of {all_of_them} texts"


def _saturated(e: TokenScores) -> str:
    """What a probability so near its end does to scores and tests."""
    tests = "tests by removal see a map only as far as the probability moves"
    if e.case.scalar == "probability":
        return f"such a probability hardly moves when a word goes, so scores are small, and {tests}; try the log-odds"
    return f"log-odds still move where the probability no longer shows it, so a large score may change nothing; {tests}"


def _summary(card: TrustCard) -> Iterator[str]:
    best, many = card.ordered[0], card.texts > 1
    here = "on texts like these" if many else card.here
    if not best.verdicts:
        yield "Nothing was tested: these maps show what the methods say, not whether it is so."
    elif best.single_words:
        yield "Every map of a single word says the same, so there is nothing to test: give a longer text."
        return
    elif best.level == "yes":
        yield f"Use {best.title} {here}: {_uncapitalised(best.count)}."
        yield from _disagreement(card) or _story(card, best)
    elif best.level == "partly":
        yield f"No method is fully convincing {here}. {best.title} comes closest, {_uncapitalised(best.count)}: a hint."
    elif best.too_few_samples:
        yield f"No map passes the tests {here}: {best.title} does best, but had too few samples for so many words."
    elif best.level == "open":
        yield f"No map can be shown to be better than random {here}: try {'longer texts' if many else 'a longer text'}."
    else:
        yield f"None of these maps can be trusted {here}: {_uncapitalised(best.count)}, and that is the best of them."
    yield from _distrusted(card)


def _uncapitalised(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _story(card: TrustCard, best: Standing) -> Iterator[str]:
    """What the map says, and who says the same."""
    if card.texts == 1 and (sentence := pulls(best.first)):
        yield sentence
    if close := [t.title for t in card.close_to(best) if t.level in ("yes", "partly")]:
        yield f"{listed(close)} {'orders' if len(close) == 1 else 'order'} the {card.unit}s much the same way."


def _disagreement(card: TrustCard) -> list[str]:
    """Methods that pass and tell different stories, and the words on which they agree all the same."""
    passing = [i for i, standing in enumerate(card.standings) if standing.level == "yes"]
    taus = [(card.agreement.tau[i, j], i, j) for i, j in combinations(passing, 2)]
    low, i, j = min((known for known in taus if not np.isnan(known[0])), default=(1.0, 0, 0))
    if low >= _UNLIKE:
        return []
    names = f"{card.standings[i].title} and {card.standings[j].title}"
    said = f"But {names} both pass and order the {card.unit}s differently (τ {low:.2f})".replace("τ -", "τ −")
    if card.texts > 1:
        return [f"{said}: read no single {card.unit}'s score as the reason."]
    tops = [set(strongest(card.standings[k].first)) for k in passing]
    shared = [quoted(card.first.words[word]) for word in sorted(set.intersection(*tops))]
    strong = f"rely on {listed(shared)} alone, which all that pass find strong"
    rely = strong if shared else f"they share no strong {card.unit}"
    return [f"{said}: {rely}."]


def _one_eraser(card: TrustCard) -> Iterator[str]:
    """One note where several methods erase words as the tests do, in place of one for each."""
    favoured = [standing for standing in card.standings if standing.favoured]
    if len(favoured) > 1:
        names = listed([standing.title for standing in favoured])
        tests = listed(list(dict.fromkeys(title_of(v) for standing in favoured for v in standing.favoured)))
        yield f"same eraser: {names} take words away as {tests} do, which favours them in these tests"


def _distrusted(card: TrustCard) -> Iterator[str]:
    bad = [standing.title for standing in card.ordered if standing.level == "no"]
    if bad and card.ordered[0].level in ("yes", "partly"):
        yield f"Do not read {listed(bad)} as {'a reason' if len(bad) == 1 else 'reasons'}."


def pulls(e: TokenScores) -> str:
    """The word that speaks most for the label, and the one that speaks most against it."""
    top, bottom = quoted(e.words[int(e.scores.argmax())]), quoted(e.words[int(e.scores.argmin())])
    if not e.facts.get("signed", True):
        return f"{top} matters most."
    least = _FAINT * np.abs(e.scores).max()
    label, up, down = f"“{e.label}”", e.scores.max() > least, e.scores.min() < -least
    if up:
        return f"{top} speaks most for {label}" + (f", {bottom} most against it." if down else ".")
    return f"{bottom} speaks most against {label}." if down else ""


def quoted(word: str) -> str:
    flat = " ".join(word.split())
    return f"“{flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + '…'}”"


def _accord_on_one(card: TrustCard) -> str:
    """Which word each method finds strongest."""
    groups: dict[int, list[str]] = {}
    for standing in card.standings:
        groups.setdefault(strongest(standing.first, 1)[0], []).append(standing.title)
    words = card.first.words
    (top, names), *others = sorted(groups.items(), key=lambda item: -len(item[1]))
    if not others:
        return f"All find {quoted(words[top])} the strongest {card.unit}."
    rest = "; ".join(f"{listed(who)}: {quoted(words[i])}" for i, who in others)
    found = f"{'finds' if len(names) == 1 else 'find'} {quoted(words[top])} the strongest {card.unit}"
    return f"{listed(names)} {found}; {rest}."


def _accord_on_many(card: TrustCard) -> str:
    """The closest two methods and the farthest."""
    table, titles = card.agreement.tau, [standing.title for standing in card.standings]
    known = [(table[i, j], i, j) for i, j in combinations(range(len(titles)), 2) if not np.isnan(table[i, j])]
    if not known:
        return "There is nothing to compare."
    (high, a, b), (low, c, d) = max(known), min(known)
    sentence = f"{titles[a]} and {titles[b]} agree most (τ {high:.2f})"
    if len(known) > 1:
        sentence += f", {titles[c]} and {titles[d]} least (τ {low:.2f})"
    return sentence.replace("τ -", "τ −") + "."
