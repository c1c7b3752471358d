"""Input reduction: the least important words are taken away, one by one, as long as the prediction stays.

    g(x_i | x) = log f(y | x) - log f(y | x without word i),   y = argmax f(. | x)        in each step argmin g goes

Feng, Wallace, Grissom II, Iyyer, Rodriguez and Boyd-Graber (2018), Pathologies of Neural Models Make Interpretations
Difficult, arXiv:1804.07781. Importance g is `leave_one_out` as it stands above, by default its approximation by the
`gradient` of log f(y | x) times the embedding of the word, or the `norm` of that gradient (AllenNLP's variant: the
smallest goes). It is computed anew after every removal. In a beam search every version proposes its
k = max(1, min(beam, L - 3)) least important words, L being its length; of the versions that keep the prediction, the k
whose last word was least important go on. No version loses its last word. All versions of the smallest length are
kept. Of a pair only the last field is reduced (the hypothesis), or the one that `field` names.

Second order: `heat_maps` among the facts holds the importance of the words that remain, for each step of the way, and
`kendall` (tau-b) and `spearman` how alike a map and the next one order the words that remain in both; None where one
of the two has no order.

Where we depart: the paper's g is a difference of probabilities. Logarithms, as in the loss of the released code, order
the words of a text in the same way; only between texts of the beam the order may differ. The released code cuts the
beam before it looks at predictions (here after), takes `width` "constant", min(beam, L), and for SNLI a beam of 2 and
`at_least` 0.9. Numbers closer than a hundred-thousandth of the largest count as equal: then the word goes that stands
in the better version, and in one version the earlier word. Proposals with the same string are one, that of the better
version. A model that answers freely must give the same answer to the reduced text: the exact same span, or with `same`
"string" the same words in any place. A target that the model does not predict is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import expit, log_expit

from assay.errors import BadInput, UnknownName
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.methods.input_features.reduced import Version, shifts, steady
from assay.questions.answers import Predictions
from assay.questions.base import Aim, Conversation, Question
from assay.questions.erasers import each
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict, Settle
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Variants

_PLACE = re.compile(r"\d+:\d+(?:#\d+-\d+)? ")  # where a span stands, before its words


@method(
    title="Input reduction",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1804.07781",
    needs=(InputGradient, Predict),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class InputReduction:
    """The shortest versions of a text to which the model still says the same."""

    importance: Literal["gradient", "leave_one_out", "norm"] = "gradient"
    beam: int = 5
    width: Literal["paper", "constant"] = "paper"
    at_least: float = 0.0
    same: Literal["span", "string"] = "span"
    field: str | None = None

    def __post_init__(self) -> None:
        if self.beam < 1 or not 0 <= self.at_least <= 1:
            raise BadInput("input_reduction needs beam >= 1, and at_least between 0 and 1.")

    @property
    def needs(self) -> tuple[type[Question], ...]:
        return (Predict,) if self.importance == "leave_one_out" else (InputGradient, Predict)

    @property
    def otherwise(self) -> str:
        return "With importance=leave_one_out, input_reduction asks for Predict alone."

    def explain(self, case: Case) -> Conversation[Edits]:
        search = _Search(self, replace(case, text=_in_one_field(case.text, self.field)))
        beam = shortest = yield from search.whole()
        while beam and len(beam[0].kept) > 1:
            proposals = search.proposals(beam, (yield from search.importance(beam)))
            unchanged = yield from search.unchanged(proposals)
            beam, shortest = unchanged[: self.size(len(beam[0].kept))], unchanged or shortest
        return search.told(shortest)

    def size(self, length: int) -> int:
        """How many words a version of this length proposes, and how many versions go on."""
        return max(1, min(self.beam, length - 3)) if self.width == "paper" else min(self.beam, length)


def _in_one_field(text: Text, name: str | None) -> Text:
    """The text with one field in focus: the named one, or of several texts the last that has words.

    Where a string stands in several fields, the word in the middle whose tag is explained stays.
    """
    if name is not None:
        known = [field.name for field in text.fields if field.part != "note"]
        if name not in known:
            raise UnknownName.of("field", name, known)
        if name not in text.focus and any(field.part == "note" for field in text.fields):
            # What is explained was settled with this field as it is: an answer has its place in the whole context.
            raise BadInput(f"the {name} must stay as it is; to take its words away, explain it: focus=[{name!r}].")
        return Text(text.fields, (name,)).require_words()
    own = [field.name for field in text.explained if field.part == "own" and field.spans]
    around = [field.name for field in text.explained if field.part in ("first", "last") and field.spans]
    return Text(text.fields, tuple(own[-1:] or around) or text.focus)


@dataclass
class _Search:
    """The text, and the heat map of every version that was in the beam."""

    method: InputReduction
    case: Case

    def __post_init__(self) -> None:
        self.heat_maps: dict[tuple[int, ...], Floats] = {}
        self.free = any(field.part == "note" for field in self.case.text.fields)

    def whole(self) -> Conversation[list[Version]]:
        """The text itself, if it is the model's own prediction that is to be kept."""
        start = Version(self.case.text, tuple(range(len(self.case.text))), notes=_notes(self.case.text))
        same, answers = yield from self._asked([start])
        if not same or (1 if self.free else answers.argmax()[0]) != self.case.target:
            raise BadInput(
                f"input_reduction keeps what the model itself says, and of {str(self.case.text)[:40]!r} it says "
                "something else than the given target or answer; leave that out."
            )
        return [self._said(same[0], answers, 0)]

    def importance(self, beam: Sequence[Version]) -> Conversation[list[Floats]]:
        """How much each word of each version counts for the prediction, all versions in one question."""
        ways = {"gradient": self._gradients, "norm": self._gradients, "leave_one_out": self._left_out}
        maps = yield from ways[self.method.importance](beam)
        self.heat_maps |= {version.kept: heat for version, heat in zip(beam, maps, strict=True)}
        return maps

    def _gradients(self, beam: Sequence[Version]) -> Conversation[list[Floats]]:
        """Of log p: that of the log-odds times 1 - p."""
        reduce: Literal["dot", "l2"] = "l2" if self.method.importance == "norm" else "dot"
        found = yield InputGradient(*(version.text for version in beam), aim=Aim(self.case.target), reduce=reduce)
        return [gradients.scores[0] * expit(-gradients.values[0]) for gradients in found]

    def _left_out(self, beam: Sequence[Version]) -> Conversation[list[Floats]]:
        answers = yield Predict(*(Variants(version.text, each(len(version.kept))) for version in beam))
        values = np.split(self._log_chance(answers), np.cumsum([len(version.kept) for version in beam])[:-1])
        return [version.value - without for version, without in zip(beam, values, strict=True)]

    def _log_chance(self, answers: Predictions) -> Floats:
        return np.asarray(log_expit(answers.value(self.case.target)))

    def proposals(self, beam: Sequence[Version], maps: Sequence[Floats]) -> list[Version]:
        """Each version without each of its least important words, least first; of those with one string the first."""
        size = self.method.size(len(beam[0].kept))
        made = [
            version.without(i, float(heat[i]))
            for version, heat in zip(beam, steady(maps), strict=True)
            for i in np.argsort(heat, kind="stable")[:size].tolist()
        ]
        rows = self.case.text.rows(np.array([version.mask for version in made]), None)
        first = dict(zip(rows[::-1], made[::-1], strict=True))
        return sorted((first[row] for row in dict.fromkeys(rows)), key=lambda version: version.importance)

    def unchanged(self, proposals: Sequence[Version]) -> Conversation[list[Version]]:
        """Those to which the model says the same, and is sure enough of it."""
        same, answers = yield from self._asked(proposals)
        chances = answers.probabilities[:, self.case.target]
        good = (chances >= self.method.at_least) & (self.free | (answers.argmax() == self.case.target))
        return [self._said(same[i], answers, i) for i in np.flatnonzero(good).tolist()]

    def _asked(self, versions: Sequence[Version]) -> Conversation[tuple[Sequence[Version], Predictions]]:
        """What the model says to them; of those that it answers freely, only to those with the same answer."""
        if not self.free:
            masks = np.array([version.mask for version in versions])
            return versions, (yield Predict(Variants(self.case.text, masks)))
        settled = yield Settle(*(version.text.read for version in versions))
        same = [
            replace(version, notes=answer)
            for version, answer in zip(versions, map(_notes, settled), strict=True)
            if self._compared(answer) == self._compared(version.notes)
        ]
        return same, (yield Predict(*(version.text for version in same))) if same else Predictions(np.zeros((0, 2)))

    def _compared(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        """The answer with its place, or its words alone."""
        return notes if self.method.same == "span" else tuple(_PLACE.sub("", note, count=1) for note in notes)

    def _said(self, version: Version, answers: Predictions, i: int) -> Version:
        chances, value = answers.probabilities[i].tolist(), float(self._log_chance(answers[i : i + 1])[0])
        return replace(version, chances=tuple(chances), value=value)

    def told(self, shortest: Sequence[Version]) -> Edits:
        path = shortest[0].path()
        return Edits(
            self.case,
            tuple(map(Version.edit, path)),
            tuple(map(Version.edit, shortest)),
            facts=self.facts(path),
            warnings=tuple(self.warnings()),
        )

    def facts(self, path: Sequence[Version]) -> dict[str, Any]:
        maps = [self.heat_maps.get(version.kept) for version in path]
        known: dict[str, Any] = {"signed": False} if self.method.importance == "norm" else {}
        return known | {"heat_maps": [None if heat is None else heat.tolist() for heat in maps]} | shifts(path, maps)

    def warnings(self) -> Iterator[str]:
        if self.case.against is not None:
            yield "no contrast: words go while the prediction stays, whatever becomes of one label against another"


def _notes(text: Text) -> tuple[str, ...]:
    """The answer that is explained; a single token of it is fixed with it."""
    return tuple(field.string for field in text.fields if field.part == "note")[:1]
