"""Natural indirect effect: how much of a concept's effect on the answer goes through each head, neuron or layer.

    y(x)          log p(one word | x) - log p(the other | x); of a classifier, the explained number of the target label
    total         E[ y(x') - y(x) ]                       x' is x with the concept changed
    indirect(z)   E[ y(x with z as it is in x') - y(x) ]
    direct(z)     E[ y(x' with z as it is in x) - y(x) ]

Vig et al. (2020), arXiv:2004.12265; survey, section 11.1, eq. 19-21, where y is a ratio of probabilities and an effect
a ratio less one (scale="ratio"); by default we take logarithms, whose means are not ruled by the few largest ratios.
The mediators are what heads add up (Vig et al. exchange their attention weights), feed-forward neurons, or the states
of layers, at all pieces or at one `position`. Pairs of texts come from the sample, or from `concept`: professions,
winobias, winogender. Those of which the two texts have different numbers of pieces are left out, as in the released
code, and those whose two texts are the same. Intervals are of bootstrap resamples of the pairs. Then `greedy` units are
picked, each time the one that adds most to what the units before it carry together; the `candidates` strongest ones are
tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from assay.data.concepts import PAIRS, from_sample
from assay.data.published_places import published_place
from assay.errors import BadInput, Unanswerable, UnknownName
from assay.explanations.effects import ChosenUnit, Effects, share_for_half
from assay.explanations.mediated import MediatedPair, MediatedTexts, Odds, read_pair
from assay.explanations.sample_explanation import SampleId
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.intervene import Intervene, Part, Site, UnitCounts, UnitTable
from assay.questions.predict import Predict
from assay.questions.randomness import Randomness
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, column_means, estimate
from assay.text.sample import Sample

_MANY = 4096  # units of which resamples are not sorted: neurons
_ENTITLED = 65_536  # pairs that are read at most; they are drawn from these


@method(
    title="Natural indirect effect",
    row=Row.CONCEPTS,
    uses=Uses.WHITE_BOX,
    paper="arXiv:2004.12265",
    section="11.1",
    marks="D",
    needs=(Predict, Intervene, UnitCounts),
    returns=Effects,
    alone=True,
)
@dataclass(frozen=True, kw_only=True)
class NaturalIndirectEffect:
    """Through which heads, neurons or layers a concept has its effect."""

    part: Literal["head", "layer", "neuron"] = "head"
    concept: str | None = None
    words: tuple[str, ...] = ()
    layer: int | None = None
    position: int | None = None
    scale: Literal["log", "ratio"] = "log"
    pairs: int = 100
    greedy: int = 3
    candidates: int = 8

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.greedy < 0 or self.candidates < 1:
            wrong = f"{self.pairs}, {self.greedy} and {self.candidates}"
            raise BadInput(f"natural_indirect_effect needs pairs >= 1, greedy >= 0 and candidates >= 1, not {wrong}.")
        if len(self.words) not in (0, 2):
            raise BadInput(f"two words are compared, as in words=he,she, not {len(self.words)}.")
        if len(set(self.words)) == 1:
            raise BadInput(f"two different words are compared, not {self.words[0]!r} with itself.")

    def describe(self, sample: Sample) -> Conversation[Effects]:
        facts: KnownFacts = yield ModelFacts()
        table: UnitTable = yield UnitCounts()
        sites = self._sites(table)
        drawn = yield from self._drawn(sample, facts)
        changed = [pair for pair in drawn if pair.base != pair.changed]
        read = yield Each(read_pair(pair, facts) for pair in changed)
        texts: list[MediatedTexts] = [one for one in read if isinstance(one, MediatedTexts)]
        if not texts:
            why = "have different numbers of pieces" if changed else "are the same"
            raise BadInput(f"the two texts of every pair {why}; none can be compared.")
        odds = Odds(self.scale)
        one_by_one = [(site,) for site in sites]
        measured = yield Each(odds.effects(pair, one_by_one, direct=True) for pair in texts)
        totals, indirect, direct = (np.array([one[k] for one in measured]) for k in range(3))
        chosen = yield from self._greedy(odds, texts, sites, indirect, totals)
        found = self._effects(sample, table, sites, totals, indirect, direct)
        warnings = _warnings(found.total, len(changed) - len(texts), len(drawn) - len(changed))
        return found.told(chosen=chosen, pairs=tuple(pair.given for pair in texts), warnings=tuple(warnings))

    def _drawn(self, sample: Sample, facts: KnownFacts) -> Conversation[list[MediatedPair]]:
        """The pairs, or so many of them, drawn by the seed, in their order."""
        if self.words and "continuation" not in facts.fields:
            raise BadInput(f"words={','.join(self.words)} are for causal models; of {facts.name} a label is explained.")
        found = list(islice(self._all_pairs(sample), _ENTITLED))
        if len(found) <= self.pairs:
            return found
        generator = yield Randomness(sample)
        return [found[i] for i in sorted(generator.permutation(len(found))[: self.pairs].tolist())]

    def _all_pairs(self, sample: Sample) -> Iterator[MediatedPair]:
        if self.concept is None:
            if not sample:
                raise BadInput(
                    f"natural_indirect_effect needs pairs of texts: a file (--file F --column C --pair-column D), or "
                    f"concept={'|'.join(PAIRS)}."
                )
            return from_sample(sample, self.words)
        name, _, place = self.concept.partition(":")
        if name not in PAIRS:
            raise UnknownName.of("concept", name, PAIRS)
        reader, places = PAIRS[name]
        return reader(published_place(name, place, places, "concept"))

    def _sites(self, table: UnitTable) -> list[Site]:
        part: Part = self.part
        if self.layer is not None and not 0 <= self.layer < len(table.heads):
            raise BadInput(f"there is no layer {self.layer}: there are {len(table.heads)}, counted from 0.")
        found = [site for site in table.sites(part, self.position) if self.layer in (None, site.layer)]
        if not found:
            raise Unanswerable(
                "these layers have no neurons between two linear maps: they have several feed-forward parts (experts), "
                "or none; ask for part=head or part=layer."
            )
        return found

    def _greedy(
        self, odds: Odds, texts: Sequence[MediatedTexts], sites: Sequence[Site], indirect: Floats, totals: Floats
    ) -> Conversation[tuple[ChosenUnit, ...]]:
        """Units, each the one by which the set carries most of the total effect; among equals the first."""
        sign = -1.0 if totals.mean() < 0 else 1.0
        strongest = np.argsort(-sign * indirect.mean(axis=0), kind="stable")[: self.candidates].tolist()
        chosen: list[ChosenUnit] = []
        kept: tuple[Site, ...] = ()
        while strongest and len(chosen) < self.greedy:
            sets = [(*kept, sites[i]) for i in strongest]
            measured = yield Each(odds.effects(pair, sets, direct=False) for pair in texts)
            means = np.mean([one[1] for one in measured], axis=0)
            best = int(np.argmax(sign * means))
            site = sites[strongest.pop(best)]
            kept = (*kept, site)
            chosen.append(ChosenUnit(site.layer, site.unit or 0, float(means[best])))
        return tuple(chosen)

    def _effects(
        self, sample: Sample, table: UnitTable, sites: Sequence[Site], totals: Floats, indirect: Floats, direct: Floats
    ) -> Effects:
        widths = {"head": table.heads, "neuron": table.neurons, "layer": (1,) * len(table.heads)}[self.part]
        effects, left = (np.full((len(widths), max(widths)), np.nan) for _ in range(2))
        intervals = np.full((*effects.shape, 2), np.nan)
        at = tuple(np.array([(site.layer, site.unit or 0) for site in sites]).T)
        effects[at], intervals[(*at, 0)], intervals[(*at, 1)] = column_means(indirect)
        left[at] = direct.mean(axis=0)
        total = estimate(totals)
        assert total is not None
        half = _half(totals, indirect)
        return Effects(SampleId.of(sample), self.part, effects, intervals, left, total, half=half)


def _half(totals: Floats, indirect: Floats) -> Estimate | None:
    """The share of the units that add up to half; all of them, in resamples where they do not."""
    table = np.column_stack([totals, indirect])
    if table.shape[1] > _MANY or not np.isfinite(share_for_half(table.mean(axis=0))):
        return None
    return estimate(table, lambda means: np.minimum(share_for_half(means), 1.0))


def _warnings(total: Estimate, unlike: int, same: int) -> Iterator[str]:
    for count, why in ((unlike, "have different numbers of pieces"), (same, "are the same")):
        if count:
            yield f"{count} {'pair is' if count == 1 else 'pairs are'} left out: the two texts {why}"
    if total.n == 1:
        yield "only 1 pair: there are no intervals, and nothing can be decided"
    elif total.few:
        yield f"only {total.n} pairs: the intervals are too narrow to decide anything"
    if total.sign == 0:
        yield "the concept has no total effect that differs from 0, so there is little to mediate"
