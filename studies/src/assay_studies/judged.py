"""A sentence of a paper, and what all comparisons of a study say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.statistics.intervals import Estimate
from assay_studies.published import first_number
from assay_studies.rules import FAILS, HOLDS, NOT_LEARNED, OPEN, Comparison, Reach, Word, together, words

_OPENLY: dict[Word, str] = {HOLDS: "holds", FAILS: "not", OPEN: "open", NOT_LEARNED: "not learned"}


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A claim: `quote` and `place` are the paper's; without them it is our own question.

    `reach` is over the things that it is about ("most of the corpora"), `within` over several numbers of one of them
    ("there are adversaries": any). `beyond` are things that the paper did not have. `main` is the name of the number
    that the top table shows, where a claim has several; `headline` are names of others that it shows, and their words.
    """

    key: str
    short: str
    quote: str = ""
    place: str = ""
    reading: str = ""
    reach: Reach = "all"
    within: Reach = "all"
    digits: int = 3
    published: str = ""
    beyond: tuple[str, ...] = ()
    main: str = ""
    headline: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        return not self.quote


@dataclass(frozen=True)
class Judged:
    """A sentence with its verdict and its numbers, as a page shows them."""

    sentence: Sentence
    word: Word
    verdict: str
    ours: str
    published: str
    rows: tuple[dict[str, str], ...]
    beyond: tuple[dict[str, str], ...] = ()


def judged(sentence: Sentence, comparisons: Sequence[Comparison]) -> Judged:
    """The verdict; what the paper did not have is judged by itself and decides nothing here."""
    asked = [one for one in comparisons if one.about not in sentence.beyond]
    further = [one for one in comparisons if one.about in sentence.beyond]
    said = by_subject(sentence, asked)
    word = together(said.values(), sentence.reach)
    verdict = f"**{word}**{_counted(said)}{_told(asked)}"
    shown = [one for one in asked if one.decides and one.learned and one.name == (sentence.main or one.name)]
    ours = _ranged([one.estimate for one in shown if one.estimate is not None], sentence.digits)
    ours = "; ".join(filter(None, (ours, *_headline(sentence, asked))))
    published = sentence.published or _published([one.published for one in shown if one.published])
    rows, more = (tuple(_rows(sentence, some)) for some in (asked, further))
    return Judged(sentence, word, verdict, ours or "not measured", published or "–", rows, more)


def by_subject(sentence: Sentence, comparisons: Sequence[Comparison]) -> dict[str, Word]:
    """What is said of each thing that the claim is about; open where nothing decides."""
    found: dict[str, list[Word]] = {one.about: [] for one in comparisons}
    for one, word in zip(comparisons, words(comparisons), strict=True):
        if one.decides:
            found[one.about].append(word)
    return {about: together(some, sentence.within) for about, some in found.items()}


def _counted(said: dict[str, Word]) -> str:
    """How many of several, and which are not among them."""
    if len(said) < 2:
        return ""
    held = sum(word == HOLDS for word in said.values())
    rest = (
        f"{_OPENLY[word]}: {', '.join(about for about, one in said.items() if one == word)}"
        for word in (FAILS, OPEN, NOT_LEARNED)
        if word in said.values()
    )
    return f" ({'; '.join((f'holds on {held} of {len(said)}', *rest))})"


def _told(comparisons: Sequence[Comparison]) -> str:
    """What was looked at besides, in the verdict's own line: settings that were chosen after the numbers were seen."""
    return "".join(
        f"; {one.about} {one.estimate.shown(sign='+')}: {one.aside}"
        for one in comparisons
        if one.aside and one.rule is not None and one.estimate is not None
    )


def _headline(sentence: Sentence, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Numbers that decide nothing and belong beside the one that does, as a ceiling does."""
    for name, said in sentence.headline.items():
        found = [one.estimate for one in comparisons if one.name == name and one.learned and one.estimate is not None]
        if found:
            yield f"{said} {_ranged(found, sentence.digits)}"


def _ranged(found: Sequence[Estimate], digits: int) -> str:
    if len(found) == 1:
        return found[0].shown(digits)
    values = [one.value for one in found]
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}" if values else ""


def _published(printed: Sequence[str]) -> str:
    known = sorted(dict.fromkeys(one.partition(" ± ")[0] for one in printed), key=first_number)
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}" if known else ""


def _rows(sentence: Sentence, comparisons: Sequence[Comparison]) -> list[dict[str, str]]:
    return [
        {
            "about": ", ".join(filter(None, (one.about, one.name))),
            "ours": "not measured" if one.estimate is None else one.estimate.shown(sentence.digits),
            "claimed": "" if one.rule is None else str(one.rule),
            "published": one.published,
            "here": (word if one.decides or word == NOT_LEARNED else "") + (f" ({one.aside})" if one.aside else ""),
            "interval over": one.over,
        }
        for one, word in zip(comparisons, words(comparisons), strict=True)
    ]
