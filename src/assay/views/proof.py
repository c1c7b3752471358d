"""A verdict in a reader's words: what the check measures, what the method got, what random explanations got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.explanations.sample_explanation import SampleExplanation
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import checks
from assay.statistics.verdict import Verdict
from assay.verdicts.naming import method_titles
from assay.views.say import counted, number, signed
from assay.views.strip import Strip, strip


@dataclass(frozen=True)
class Proof:
    """One line of proof under a method."""

    title: str
    measures: str
    sentence: str
    detail: str
    strip: Strip


def proof(v: Verdict) -> Proof:
    title, measures = check_title(v.check), check_summary(v.check)
    return Proof(title, measures, sentence(v), detail(v), strip(v))


def cautions(verdicts: Sequence[Verdict], known: Sequence[str] = ()) -> list[str]:
    """Each warning once, with the checks that it belongs to; `known` are those that stand elsewhere already."""
    checks: dict[str, list[str]] = {}
    for v in verdicts:
        for warning in v.warnings:
            if not warning.startswith(tuple(known)):
                checks.setdefault(warning, []).append(check_title(v.check))
    return [f"{', '.join(titles)}: {warning}" for warning, titles in checks.items()]


def check_title(name: str) -> str:
    card = checks().get(name)
    return card.title if card else name.replace("_", " ").capitalize()


def check_summary(name: str) -> str:
    """What the check measures, in its own words; empty for a check that is not installed here."""
    card = checks().get(name)
    return (card.make_from.__doc__ or "").strip().partition("\n")[0] if card else ""


def by_method(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """The verdicts on each method with its settings, under its name."""
    groups: dict[str, list[Verdict]] = {}
    for title, v in zip(method_titles(verdicts), verdicts, strict=True):
        groups.setdefault(title, []).append(v)
    return groups


def sentence(v: Verdict) -> str:
    """What the method got and what random explanations got."""
    whose = "of the same sample" if _of_a_sample(v) else "of this text" if len(v.scores) == 1 else "of the same texts"
    ones = f"random {_things(v)} {whose}"
    return f"{v.sentence.capitalize()}: {number(v.mean)} where {ones} get {number(v.random)} on average."


def _things(v: Verdict) -> str:
    """What a check of this kind holds the method against."""
    card = checks().get(v.check)
    if card is not None and not issubclass(card.reads, TokenScores):
        return "descriptions" if _of_a_sample(v) else "explanations"
    return "maps"


def _of_a_sample(v: Verdict) -> bool:
    card = checks().get(v.check)
    return card is not None and issubclass(card.reads, SampleExplanation)


def detail(v: Verdict) -> str:
    low, high = v.interval
    difference = f"difference {signed(v.difference)} [{signed(low)}, {signed(high)}]"
    return f"{v.better} is better · {_standing(v)} · {difference} · p {chance(v.p_value)}"


def chance(p: float) -> str:
    return f"{p:.1g}" if p < 0.001 else f"{p:.3f}"


def tag(verdicts: Sequence[Verdict]) -> tuple[str, bool] | None:
    """All verdicts on one method in a few words, and whether they are good."""
    if not verdicts:
        return None
    good = sum(v.passed for v in verdicts)
    if len({v.sentence for v in verdicts}) == 1:
        return verdicts[0].sentence, bool(good)
    return f"passes {good} of {counted(len(verdicts), 'check')}", good == len(verdicts)


def _standing(v: Verdict) -> str:
    """For one text its place among random maps; else how many texts there are."""
    if len(v.scores) == 1:
        sign = 1 if v.better == "higher" else -1
        beaten = int((sign * v.scores[0] > sign * v.random_scores[0]).sum())
        return f"ahead of {beaten} of {v.random_scores.shape[1]} random {_things(v)}"
    return f"ahead of {v.ahead:.0%} of random {_things(v)} ({v.effect} effect) over {counted(len(v.scores), 'text')}"
