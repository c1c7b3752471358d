"""The trust card as a page and as a fragment for notebooks: the text first, the same words under each method, the proof
beside the claim, one plain sentence each; without JavaScript, and without anything that has to be fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from assay.explanations.token_scores import TokenScores
from assay.registry.finding import methods as all_methods
from assay.statistics.verdict import Verdict
from assay.verdicts.agreement import TOP
from assay.verdicts.standing import Level, Standing, tells, title_of
from assay.verdicts.trust_card import TrustCard
from assay.views import proof, say
from assay.views.bars import bars, is_split
from assay.views.kinds import renderer
from assay.views.shades import FAINT, has_signs
from assay.views.strip import Strip, strip
from assay.views.templating import render

TAGS: dict[Level, tuple[str, str]] = {
    "yes": ("✓", "passes the tests"),
    "partly": ("~", "a hint"),
    "no": ("✕", "do not rely on it"),
    "open": ("?", "cannot be tested here"),
}
_OPEN, _MOST = 3, 200
_ALWAYS, _TELLING = ("eraser", "baseline"), ("gap", "r2", "samples", "standard_error", "exact")


_READILY = 0.1  # nats a token
_AS_READILY = {"more": "less readily", "less": "more readily", "as": "as readily"}
_TOO_FEW = ("?", "too few samples")
ABOUT = "This is about the maps: whether they show the words that the model uses, not whether the model is right."


def tag(standing: Standing) -> tuple[str, str]:
    """The sign and the words for where a method stands."""
    return _TOO_FEW if standing.too_few_samples and standing.level == "open" else TAGS[standing.level]


@dataclass(frozen=True)
class Evidence:
    """One check of one method: its strip, and where the method stands, in a few words."""

    title: str
    measures: str
    strip: Strip
    mark: str
    place: str
    sentence: str
    detail: str
    favours: bool


@dataclass(frozen=True)
class MethodPanel:
    """One method's part of the card."""

    standing: Standing
    body: Markup | None
    tests: tuple[Evidence, ...]
    besides: tuple[Evidence, ...]
    cautions: Sequence[str]


@dataclass(frozen=True)
class TextStory:
    """One of many texts, and every method's map of it."""

    first: TokenScores
    bodies: tuple[tuple[str, Markup], ...]
    opened: bool


def page(card: TrustCard) -> str:
    """One HTML file that needs nothing else."""
    return str(render("trust_page.html.j2", kind="trust", **_values(card)))


def fragment(card: TrustCard) -> str:
    """The same inside a notebook, in whatever colours the notebook has."""
    return str(render("trust_fragment.html.j2", **_values(card)))


def heading(card: TrustCard) -> str:
    if card.texts == 1:
        return say.heading(card.first).removesuffix("?") + ", and may you believe it?"
    return f"{say.counted(card.texts, 'text')}, {say.counted(len(card.standings), 'method')}: which may you believe?"


def inside_title(card: TrustCard) -> str:
    """The heading over the words of a long text's strongest parts."""
    if card.inside is None:
        return ""
    many = " … " in str(card.inside.first.text)
    return f"The words inside the strongest {card.unit}{'s' if many else ''}"


def reasons_note(card: TrustCard) -> str:
    """What to make of the writer's sentences: how much more readily it argues for the answer than for others."""
    if card.reason is None:
        return ""
    told = "A writer was given the answer and wrote this: it is what one might say for it, not what the model did."
    others = [one.mean for one in card.reason.others.values() if one.likelihoods]
    if not others or not card.reason.likelihoods:
        return told
    more = card.reason.reason.mean - max(others)
    readily = "more" if more > _READILY else "less" if more < -_READILY else "as"
    return f"{told} It argues for another answer {_AS_READILY[readily]}."


def evidence(v: Verdict, standing: Standing) -> Evidence:
    return Evidence(
        title_of(v),
        proof.check_summary(v.check),
        strip(v),
        mark(v),
        place(v),
        proof.sentence(v),
        proof.detail(v),
        v in standing.favoured,
    )


def mark(v: Verdict) -> str:
    """What shape the method's point has."""
    if not tells(v):
        return "silent"
    return "passed" if v.passed else "worse" if v.worse_than_random else "failed"


def place(v: Verdict) -> str:
    """For one text its place among random maps; for many how much better it is, with the interval."""
    if mark(v) == "silent":
        return "cannot tell"
    if len(v.scores) == 1:
        return f"ahead of {int(v.ahead * 100)} %"
    turn = 1 if v.better == "higher" else -1
    low, high = sorted(turn * edge for edge in v.interval)
    return f"{turn * v.difference:+.2g} [{low:+.2g}, {high:+.2g}]".replace("-", "−")


def unsure_first(card: TrustCard) -> list[int]:
    """The texts by the probability of what the model says of them, the least sure first."""
    sure = [max(e.prediction.values(), default=1.0) for e in card.standings[0].explanations]
    order: list[int] = np.argsort(sure, kind="stable").tolist()
    return order


def _values(card: TrustCard) -> dict[str, Any]:
    signs = {has_signs(standing.first) for standing in card.standings}
    stories = _stories(card) if card.texts > 1 else []
    return {
        "card": card,
        "title": heading(card),
        "methods": [_method(card, standing) for standing in card.ordered],
        "inside": [_method(card.inside, standing) for standing in card.inside.ordered] if card.inside else [],
        "inside_title": inside_title(card),
        "reasons": renderer(card.reason).html(card.reason) if card.reason else None,
        "reasons_note": reasons_note(card),
        "origin": say.origin(card.first, card.unit),
        "stories": stories,
        "unshown": card.texts - len(stories),
        "agreement": _agreement(card),
        "key": {"signs": signs, "faint": f"{FAINT:.0%}"},
        "tag": tag,
        "about": ABOUT,
        "say": say,
        "brief": brief,
        "proof": proof,
        "bars": bars,
        "is_split": is_split,
    }


def _method(card: TrustCard, standing: Standing) -> MethodPanel:
    body = renderer(standing.first).html(standing.first) if card.texts == 1 else None
    tests, besides = (tuple(evidence(v, standing) for v in some) for some in (standing.tests, standing.besides))
    return MethodPanel(standing, body, tests, besides, card.cautions(standing))


def _stories(card: TrustCard) -> list[TextStory]:
    chosen = unsure_first(card)[:_MOST]
    return [_story(card, i, opened=place < _OPEN) for place, i in enumerate(chosen)]


def _story(card: TrustCard, i: int, *, opened: bool) -> TextStory:
    maps = [(standing.title, standing.explanations[i]) for standing in card.ordered]
    return TextStory(maps[0][1], tuple((title, renderer(e).html(e)) for title, e in maps), opened)


@dataclass(frozen=True)
class AgreementCell:
    """How far two methods agree."""

    shade: str
    tau: str
    top: str


def _agreement(card: TrustCard) -> list[tuple[str, list[AgreementCell | None]]]:
    """Rows of cells; a method has none with itself."""
    tau, top = card.agreement.tau, card.agreement.top
    few = min(TOP, len(card.first.text))
    return [
        (standing.title, [None if i == j else cell(tau[i, j], top[i, j], few, card.texts) for j in range(len(tau))])
        for i, standing in enumerate(card.standings)
    ]


def cell(tau: float, top: float, few: int, texts: int) -> AgreementCell:
    shown = "–" if np.isnan(tau) else f"{tau:.2f}".replace("-", "−")
    shade = "0" if np.isnan(tau) else f"{max(tau, 0.0):.2f}"
    return AgreementCell(shade, shown, f"{round(top * few)} of {few}" if texts == 1 else f"{100 * top:.0f} %")


def brief(standing: Standing) -> list[str]:
    """How the method was used; for one text also how well it went, and what it asked."""
    e = standing.first
    card = all_methods().get(e.about.method)
    usual = card.defaults() if card else {}
    chosen = {n: v for n, v in e.about.parameters.items() if n in _ALWAYS or v != usual.get(n)}
    if len(standing.explanations) > 1:
        return list(say.named(chosen))
    told = {n: e.facts[n] for n in _TELLING if n in e.facts}
    rows = e.about.cost.sequences  # not those that had to be run: the other methods may have asked them before
    return [*say.named({**chosen, **told}), *([f"{say.counted(rows, 'row')} asked"] if rows else [])]
