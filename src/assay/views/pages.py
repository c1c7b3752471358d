"""HTML: a page that stands by itself, and a fragment for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.explanations.text_explanation import TextExplanation
from assay.statistics.verdict import Verdict
from assay.text.text import Text
from assay.views import proof, say
from assay.views.bars import bars, is_split
from assay.views.kinds import renderer
from assay.views.shades import FAINT, has_signs, is_shaded
from assay.views.templating import render


@dataclass(frozen=True)
class Panel:
    """One method's explanation of one text, with the proof that belongs to this text alone."""

    e: TextExplanation
    body: Markup
    proofs: tuple[proof.Proof, ...]
    cautions: list[str]
    tag: tuple[str, bool] | None


@dataclass(frozen=True)
class Story:
    """One question about one text, and every method's answer to it."""

    first: TextExplanation
    cards: tuple[Panel, ...]

    @property
    def by_label(self) -> list[tuple[TextExplanation, list[Panel]]]:
        """The cards of each label, beside an explanation of it."""
        groups: dict[str, list[Panel]] = {}
        for card in self.cards:
            groups.setdefault(card.e.label, []).append(card)
        return [(cards[0].e, cards) for cards in groups.values()]

    @property
    def heading(self) -> str:
        return say.EACH_LABEL if len(self.by_label) > 1 else say.heading(self.first)


@dataclass(frozen=True)
class MethodVerdicts:
    """One method's verdicts over many texts."""

    title: str
    proofs: tuple[proof.Proof, ...]
    cautions: list[str]
    tag: tuple[str, bool] | None


def page(explanations: Sequence[TextExplanation], verdicts: Sequence[Verdict] = ()) -> str:
    """One HTML file: each text, the same words under each method, and the proof beside the claim."""
    stories = list(_stories(explanations))
    near = len(stories) == 1 and all(len(v.scores) == 1 for v in verdicts)
    cards = [Story(told[0], tuple(_card(e, verdicts, near) for e in told)) for told in stories]
    shown = [v for v in verdicts if near and any(_is_about(v, e) for e in explanations)]
    trials = list(verdicts_by_method([v for v in verdicts if v not in shown]))
    helpers = helpers_for(explanations)
    return str(render("page.html.j2", stories=cards, trials=trials, title=_title(stories), **helpers))


def fragment(e: TextExplanation) -> str:
    """The explanation for a notebook, in whatever colours the notebook has."""
    return str(render("fragment.html.j2", e=e, body=renderer(e).html(e), **helpers_for([e])))


def helpers_for(explanations: Sequence[TextExplanation]) -> dict[str, object]:
    key = {"signs": {has_signs(e) for e in explanations if is_shaded(e)}, "faint": f"{FAINT:.0%}"}
    return {"say": say, "bars": bars, "is_split": is_split, "key": key}


def _stories(explanations: Iterable[TextExplanation]) -> Iterable[list[TextExplanation]]:
    """Explanations of the same text together, in the order of their first; several labels of it are one question."""
    groups: dict[tuple[Text, int | None, str, str], list[TextExplanation]] = {}
    for e in explanations:
        groups.setdefault((e.text, e.case.against, e.case.scalar, e.about.model), []).append(e)
    return groups.values()


def _card(e: TextExplanation, verdicts: Sequence[Verdict], near: bool) -> Panel:
    mine = [v for v in verdicts if near and _is_about(v, e)]
    known = [*e.warnings, *(["truncated:"] if e.truncated else [])]
    return Panel(e, renderer(e).html(e), tuple(map(proof.proof, mine)), proof.cautions(mine, known), proof.tag(mine))


def _is_about(v: Verdict, e: TextExplanation) -> bool:
    return v.about(e.about.method, e.about.parameters)


def verdicts_by_method(verdicts: Sequence[Verdict]) -> Iterable[MethodVerdicts]:
    for title, mine in proof.by_method(verdicts).items():
        yield MethodVerdicts(title, tuple(map(proof.proof, mine)), proof.cautions(mine), proof.tag(mine))


def _title(stories: Sequence[Sequence[TextExplanation]]) -> str:
    if not stories:
        return "What the checks say"
    texts = len({told[0].text for told in stories})
    if len(stories) > 1:
        return f"{say.counted(texts, 'text')} explained"
    return say.EACH_LABEL if len({e.label for e in stories[0]}) > 1 else say.heading(stories[0][0])
