"""Rotation: the space of word vectors turned so that each dimension has few words, which may then have a name.

    L = E T,   T orthogonal, the least Crawford-Ferguson complexity of L (`assay.statistics.factor_rotation`)

Park, Bak and Oh (2017), doi:10.18653/v1/D17-1041; survey, section 12.2. Nothing is lost: distances and similarities
stay as they are. As in their code vectors are not normalized and the search begins at the identity. Ours departs in two
ways: vectors with more than `dimensions` are first reduced to their principal components, and the dimensions are
ordered by how much of the words they hold, each with its larger end positive. Only orthogonal rotations; the paper has
oblique ones too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.loadings import Loadings
from assay.explanations.sample_explanation import SampleId
from assay.methods.vocabulary.directions import components
from assay.methods.vocabulary.word_source import VOCABULARY, AboutWords, FoundWords
from assay.questions.base import Conversation
from assay.questions.embeddings import Embeddings
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.statistics.factor_rotation import Criterion, rotated
from assay.text.sample import Sample


@method(
    title="Rotation",
    row=Row.VOCABULARY,
    uses=Uses.EMBEDDINGS,
    paper="doi:10.18653/v1/D17-1041",
    section="12.2",
    needs=(Embeddings,),
    returns=Loadings,
    alone=True,
)
@dataclass(frozen=True, kw_only=True)
class Rotation(AboutWords):
    """Dimensions that can be read, and the words of each."""

    criterion: Criterion = "varimax"
    words: tuple[str, ...] | None = (VOCABULARY,)
    vectors: str | None = None
    layer: int | None = None
    most: int = 2000
    dimensions: int = 50

    def __post_init__(self) -> None:
        if self.most < 3 or self.dimensions < 2:
            raise BadInput(f"rotation needs most >= 3 and dimensions >= 2, not {self.most} and {self.dimensions}.")

    def describe(self, sample: Sample) -> Conversation[Loadings]:
        found = yield from self._source.find(sample)
        before, share = self._reduced(found)
        result = rotated(before, self.criterion)
        order = _order(result.loadings)
        facts = {
            **found.facts,
            "variance_kept": share,
            "complexity_before": result.before,
            "complexity_after": result.after,
            "iterations": result.iterations,
        }
        slow = f"the search for the rotation had not converged after {result.iterations} steps"
        warnings = (*found.warnings, *(() if result.converged else (slow,)))
        loadings, rotation = result.loadings @ order, result.rotation @ order
        return Loadings(SampleId.of(sample), found.words, loadings, rotation, facts=facts, warnings=warnings)

    def _reduced(self, found: FoundWords) -> tuple[Floats, float]:
        """The vectors as they are, or their principal components; and the share of the variance that these hold."""
        size = min(self.dimensions, len(found.words) - 1)
        if found.vectors.shape[1] <= size:
            return found.vectors, 1.0
        chosen, shares = components(found.vectors, size)
        return (found.vectors - found.vectors.mean(axis=0)) @ chosen.T, float(shares.sum())


def _order(loadings: Floats) -> Floats:
    """A permutation with signs: dimensions by their sum of squares, each with the end of the larger cubes positive."""
    by_size = np.argsort(-(loadings**2).sum(axis=0), kind="stable")
    signs = np.where((loadings**3).sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray((np.eye(loadings.shape[1]) * signs)[:, by_size])
