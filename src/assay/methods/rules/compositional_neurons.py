"""Compositional explanations of neurons: for each neuron the formula of features that best says where it is active.

    IoU(n, R) = sum_x 1[z_n(x) > tau and R(x)] / sum_x 1[z_n(x) > tau or R(x)]

Mu and Andreas (2020), arXiv:2006.14032; survey, section 15.2, eq. 24. The neurons are those of the feed-forward part of
a layer (of the last one), at the first piece of the text, or their mean or maximum over all pieces. A neuron is on
where it is above 0, as a ReLU; with `quantile` q where it is among its highest q of all texts. As in the released code,
formulas are joined from the left by "or", "and" and "and not", by a beam search of width 10, without a penalty for
length (of up to 3 features, there 5); features join at any place of a formula, in the released code at its end
(`grow=end`); neurons that are on in less than 5 % of the texts (500 of 10,000) are skipped, and so are those that
are on in more than 95 %, of which any common feature says as much. Without their Neighbors (GloVe) operator, and with
the commonest tag of a word (a conllu file, `tags`) in the place of a tagger. The IoU is that of the texts that were
searched, and rises with the length by itself: `held_out` is that on every fourth text, which the search does not see,
and `always` that of a rule that always holds, which is high for neurons that are mostly on. The `rules` neurons are
kept whose formulas are furthest above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.explanations.reading import reading_of
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.methods.rules.features import common_tags, feature_table, features_of
from assay.methods.rules.formulas import Flags, Formula, FormulaSearch, Grow
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.intervene import Activations, UnitCounts, UnitTable
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.statistics.intervals import estimate
from assay.text.example import Example, text_of
from assay.text.sample import Sample
from assay.text.text import Text

Values: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
_EXAMPLES = 8  # texts that a rule keeps, where it holds and where it does not
_EVERY = 4  # of so many texts one is set aside


@dataclass(frozen=True, eq=False)
class PooledText:
    """A number for each neuron, the text as far as the model saw it, and whether that is less than the whole."""

    values: Floats
    strings: tuple[str, ...]
    cut: bool


@method(
    title="Compositional neurons",
    row=Row.RULES,
    uses=Uses.WHITE_BOX,
    paper="arXiv:2006.14032",
    section="15.2",
    needs=(Predict, Activations, UnitCounts),
    returns=Rules,
)
@dataclass(frozen=True, kw_only=True)
class CompositionalNeurons:
    """The formula of words, lemmas, tags, places and overlap that best says where each neuron is active."""

    layer: int = -1
    pool: Literal["first", "mean", "max"] = "first"
    quantile: float | None = None
    beam: int = 10
    length: int = 3
    grow: Grow = "anywhere"
    features: int = 2000
    least: int = 5
    active: float = 0.05
    rules: int = 20
    tags: str | None = None

    def __post_init__(self) -> None:
        if min(self.beam, self.length, self.features, self.least, self.rules) < 1:
            raise BadInput("compositional_neurons needs beam, length, features, least and rules of at least 1.")
        if not 0 <= self.active < 0.5 or (self.quantile is not None and not 0 < self.quantile < 1):
            raise BadInput(f"active must be below 0.5, quantile between 0 and 1, not {self.active}, {self.quantile}.")

    def describe(self, sample: Sample) -> Conversation[Rules]:
        facts: KnownFacts = yield ModelFacts()
        table: UnitTable = yield UnitCounts()
        layer = self._layer(table)
        read: list[PooledText] = yield Each(self._pooled(row, sample, layer) for row in sample)
        values: Values = np.array([one.values for one in read], dtype=np.float32)
        tags = common_tags(self.tags) if self.tags else {}
        texts = [one.strings for one in read]
        seen = (Text.of(text_of(strings), names=facts.fields) for strings in texts)
        names, flags = feature_table((features_of(text, tags) for text in seen), self.least, self.features)
        if not names:
            raise BadInput(f"no feature holds in {self.least} texts of {sample.name} or more; give more texts.")
        on = self._on(values)
        searched, found = self._search(on, flags)
        share = on.mean(axis=0)  # the IoU of a rule that always holds: a good formula says more than that
        best = sorted(found, key=lambda neuron: (share[neuron] - found[neuron][-1].iou, neuron))[: self.rules]
        rules = tuple(self._rule(layer, i, found[i], on[:, i], flags, names, texts) for i in best)
        means = {"mean_iou": _means(found, self.length), "mean_held_out": _held_out(found, on, flags, self.length)}
        known = {"neurons": len(found), "features_used": len(names), **means}
        known |= _gain(found, on, flags) | _right(found, on, flags)
        return Rules(SampleId.of(sample), rules, facts=known, warnings=tuple(_warnings(read, searched, len(found))))

    def _layer(self, table: UnitTable) -> int:
        layers = len(table.neurons)
        if not -layers <= self.layer < layers:
            raise BadInput(f"there is no layer {self.layer}: there are {layers}, counted from 0.")
        return self.layer % layers

    def _pooled(self, row: Example, sample: Sample, layer: int) -> Conversation[PooledText]:
        """One number for each neuron; features are of the words that the model saw, as a neuron knows of no others."""
        reading = yield from reading_of(row, sample)
        with sample.naming(row.position):
            values = (yield Activations(reading.case.text, layer)).values
        pooled = values[0] if self.pool == "first" else getattr(values, self.pool)(axis=0)
        pairs = zip(reading.case.text.strings, row.strings, strict=False)
        seen = tuple(read if read in whole else whole for read, whole in pairs)  # a settled note is no part of a text
        # A copy: the first piece alone would keep the numbers of a whole batch in memory.
        return PooledText(np.array(pooled), seen, seen != row.strings)

    def _on(self, values: Values) -> Flags:
        """Where each neuron is on [texts, neurons]."""
        above = 0.0 if self.quantile is None else np.quantile(values, 1 - self.quantile, axis=0)
        return np.asarray(values > above)

    def _search(self, on: Flags, flags: Flags) -> tuple[int, dict[int, list[Formula]]]:
        """How many neurons there are, and the formulas of those that are on often enough, and not always."""
        seen = _seen(len(on))
        share = on[seen].mean(axis=0)
        search = FormulaSearch(flags[:, seen], beam=self.beam, length=self.length, grow=self.grow)
        chosen = np.flatnonzero((share >= self.active) & (share <= 1 - self.active) & (share > 0)).tolist()
        return on.shape[1], {i: search.best(on[seen, i]) for i in chosen}

    def _rule(
        self,
        layer: int,
        neuron: int,
        by_length: Sequence[Formula],
        on: Flags,
        flags: Flags,
        names: Sequence[str],
        texts: Sequence[tuple[str, ...]],
    ) -> Rule:
        formula = by_length[-1]
        holds = formula.holds(flags)
        numbers = {
            "iou": formula.iou,
            "held_out": _overlap(on[~_seen(len(on))], holds[~_seen(len(on))]),
            "always": float(on.mean()),
            "ious": [one.iou for one in by_length],
            "length": len(formula),
            "active": int(on.sum()),
            "matches": int(holds.sum()),
        }
        subject = {"layer": layer, "neuron": neuron}
        chosen, others = (_examples(np.flatnonzero(flag), texts) for flag in (holds, ~holds))
        return Rule(formula.shown(names), subject, numbers, chosen, others)


def _seen(texts: int) -> Flags:
    """The texts that formulas are searched on; of few texts all."""
    return np.asarray((np.arange(texts) % _EVERY != _EVERY - 1) | (texts < 2 * _EVERY))


def _overlap(on: Flags, holds: Flags) -> float:
    either = int((on | holds).sum())
    return int((on & holds).sum()) / either if either else 0.0


def _examples(places: np.ndarray, texts: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """A few texts, evenly spread."""
    few = places[np.linspace(0, len(places) - 1, min(_EXAMPLES, len(places))).astype(int)] if len(places) else places
    return tuple(texts[i] for i in few.tolist())


def _means(found: dict[int, list[Formula]], length: int) -> list[float]:
    """The mean IoU over all neurons, by the length of the formulas."""
    return [float(np.mean([by_length[k].iou for by_length in found.values()])) for k in range(length)] if found else []


def _held_out(found: dict[int, list[Formula]], on: Flags, flags: Flags, length: int) -> list[float]:
    """The same on the texts that the search did not see."""
    scores = _unseen(found, on, flags)
    return [float(mean) for mean in scores.mean(axis=0)[:length]] if len(scores) else []


def _gain(found: dict[int, list[Formula]], on: Flags, flags: Flags) -> dict[str, Any]:
    """How much the longest formulas have beyond single features on these texts, with an interval over neurons."""
    scores = _unseen(found, on, flags)
    gain = estimate(scores[:, -1] - scores[:, 0]) if len(scores) else None
    return {} if gain is None else {"held_out_gain": vars(gain).copy()}


def _right(found: dict[int, list[Formula]], on: Flags, flags: Flags) -> dict[str, Any]:
    """In how many of these texts where the longest formula holds its neuron is on, with an interval over neurons."""
    aside = ~_seen(len(on))
    unseen, active = flags[:, aside], on[aside]
    holds = {i: by_length[-1].holds(unseen) for i, by_length in found.items()}
    right = estimate(np.array([active[where, i].mean() for i, where in holds.items() if where.any()]))
    return {} if right is None else {"held_out_right": vars(right).copy()}


def _unseen(found: dict[int, list[Formula]], on: Flags, flags: Flags) -> Floats:
    """The IoU of each neuron's formulas by length, on the texts that the search did not see [neurons, lengths]."""
    aside = ~_seen(len(on))
    if not found or not aside.any():
        return np.zeros((0, 0))
    unseen, active = flags[:, aside], on[aside]
    return np.array([[_overlap(active[:, i], one.holds(unseen)) for one in found[i]] for i in found])


def _warnings(read: Sequence[PooledText], neurons: int, found: int) -> Iterator[str]:
    if len(read) < 200:
        yield f"only {len(read)} texts: formulas fit so few by chance"
    if cut := sum(one.cut for one in read):
        yield f"truncated: {cut} of {len(read)} texts are longer than the model's window; features are of what it saw"
    if found < neurons:
        yield f"{neurons - found:,} of {neurons:,} neurons are skipped: they are on too seldom, or almost always"
