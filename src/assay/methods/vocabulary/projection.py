"""Projection: the vectors of words in a plane, by what varies most, by neighbourhood, or along a meaning.

    pca          x = E v_1, y = E v_2 with the first principal components of the centred vectors      Pearson (1901)
    tsne         places whose neighbours are those of the vectors               van der Maaten and Hinton (2008)
    direction    x = e . g with the direction g of pairs such as she-he, y along what varies most besides

Survey, section 12.1. Directions as in Bolukbasi et al. (2016), arXiv:1607.06520: vectors of length 1, g the first
principal component of the differences of the pairs (`definition=difference`: of the first pair alone). Their second
axis is learned from word lists; ours is the first principal component of what is left when g is taken out. With
`scores`, a file of published numbers for words (as for how occupations are seen), facts have the correlation with x,
its interval over words, and how often a random direction correlates as strongly. A plane loses most of a space:
`neighbours_kept` is the trustworthiness (Venna and Kaski, 2001), 1 if no neighbour in the plane is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.data.word_lists import pairs_of, scores_of
from assay.errors import BadInput
from assay.explanations.projection import Projection
from assay.explanations.sample_explanation import SampleId
from assay.methods.vocabulary import directions as d
from assay.methods.vocabulary.word_source import AboutWords, FoundWords, WordSource
from assay.questions.base import Conversation
from assay.questions.embeddings import Embeddings
from assay.questions.randomness import Randomness
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.statistics.intervals import estimate
from assay.statistics.ranks import spearman
from assay.text.sample import Sample

_RANDOM = 1000  # random directions beside the given one
_NEIGHBOURS = 5


@method(
    title="Projection",
    row=Row.VOCABULARY,
    uses=Uses.EMBEDDINGS,
    paper="arXiv:1607.06520",
    section="12.1",
    needs=(Embeddings,),
    returns=Projection,
    alone=True,
)
@dataclass(frozen=True, kw_only=True)
class Project(AboutWords):
    """Where words lie: a plane, and what its axes mean."""

    by: Literal["pca", "tsne", "direction"] = "pca"
    words: tuple[str, ...] | None = None
    vectors: str | None = None
    layer: int | None = None
    pairs: str | None = None
    definition: d.Definition = "pc1"
    scores: str | None = None
    most: int = 300
    perplexity: float = 15.0

    def __post_init__(self) -> None:
        if self.most < 3 or self.perplexity <= 0:
            raise BadInput(f"projection needs most >= 3 and perplexity > 0, not {self.most} and {self.perplexity}.")
        if self.by != "direction" and (self.scores or self.pairs):
            raise BadInput("pairs and scores are for a direction; say by=direction.")

    def describe(self, sample: Sample) -> Conversation[Projection]:
        published = {} if self.scores is None else scores_of(self.scores)
        pairs = list(d.PAIRS) if self.pairs is None else pairs_of(self.pairs)
        besides = [word for pair in pairs for word in pair] if self.by == "direction" else []
        source = self._source if self.words or not published else WordSource(tuple(published), *self._where)
        found = yield from source.find(sample, besides)
        random = yield Randomness(sample)
        points, axes, found_directions, facts = self._projected(found, pairs, random)
        given = {word: published[word] for word in found.words if word in published}
        if given:
            facts["published"] = _correlated(found, points[:, 0], given, random)
        facts |= {**found.facts, "neighbours_kept": _kept(found.vectors, points)}
        more: dict[str, Any] = {"facts": facts, "warnings": found.warnings}
        return Projection(SampleId.of(sample), found.words, points, axes, found_directions, given, **more)

    @property
    def _where(self) -> tuple[str | None, int | None, int]:
        return self.vectors, self.layer, self.most

    def _projected(
        self, found: FoundWords, pairs: list[tuple[str, str]], random: np.random.Generator
    ) -> tuple[Floats, tuple[str, str], tuple[dict[str, Any], ...], dict[str, Any]]:
        """The points, the names of the axes, what they are, and facts."""
        if self.by == "pca":
            vectors, shares = d.components(found.vectors, 2)
            axes = tuple({"name": f"component {i + 1}", "share": float(share)} for i, share in enumerate(shares))
            return (found.vectors - found.vectors.mean(axis=0)) @ vectors.T, ("component 1", "component 2"), axes, {}
        if self.by == "tsne":
            points, facts = _tsne(found.vectors, self.perplexity, random)
            return points, ("t-SNE 1", "t-SNE 2"), (), facts
        return self._along(found, pairs)

    def _along(
        self, found: FoundWords, pairs: list[tuple[str, str]]
    ) -> tuple[Floats, tuple[str, str], tuple[dict[str, Any], ...], dict[str, Any]]:
        known = d.both_known(pairs, found.words)
        used = known[:1] if self.definition == "difference" else known
        first, second = (found.rows(pair[i] for pair in known) for i in (0, 1))
        direction = d.pair_direction(first, second, self.definition)
        words = d.unit(found.vectors)
        x = words @ direction.vector
        left = words - np.outer(x, direction.vector)
        (besides,), (share,) = d.components(left, 1)
        name = f"{used[0][0]} → {used[0][1]}"
        axis = {"name": name, "share": direction.share, "pairs": [list(pair) for pair in used]}
        other = "largest other component"
        return np.stack([x, left @ besides], axis=1), (name, other), (axis, {"name": other, "share": float(share)}), {}


def _correlated(found: FoundWords, x: Floats, given: dict[str, float], random: np.random.Generator) -> dict[str, Any]:
    """The correlation of x with published numbers, and the share of random directions that reach its size."""
    places = [i for i, word in enumerate(found.words) if word in given]
    y, x = np.array([given[found.words[i]] for i in places]), x[places]
    columns = np.stack([x, y, x * y, x * x, y * y], axis=1)
    pearson = estimate(columns, d.correlation_of_means)
    if len(places) < 3 or pearson is None:
        raise BadInput(f"a correlation needs 3 or more scored words that differ; {len(places)} have a vector.")
    drawn = d.unit(random.standard_normal((_RANDOM, found.vectors.shape[1])))
    others = _pearsons(d.unit(found.vectors)[places] @ drawn.T, y)
    return {
        "correlation": pearson.value,
        "interval": [pearson.low, pearson.high],
        "rank_correlation": spearman(x, y),
        "random_correlation": float(np.abs(others).mean()),
        "p_value": float((1 + (np.abs(others) >= abs(pearson.value)).sum()) / (1 + _RANDOM)),
        "scored_words": len(places),
    }


def _pearsons(columns: Floats, y: Floats) -> Floats:
    centred, other = columns - columns.mean(axis=0), y - y.mean()
    sizes = np.linalg.norm(centred, axis=0) * np.linalg.norm(other)
    return np.asarray(other @ centred / np.where(sizes > 0, sizes, 1))


def _tsne(vectors: Floats, perplexity: float, random: np.random.Generator) -> tuple[Floats, dict[str, Any]]:
    from sklearn.manifold import TSNE  # slow to import

    most = (len(vectors) - 1) / 3  # scikit-learn wants less than the number of points; three neighbours each make sense
    used = min(perplexity, most)
    made = TSNE(perplexity=used, init="pca", random_state=int(random.integers(2**31)))
    points = made.fit_transform(vectors).astype(np.float64)
    return points, {"divergence": float(made.kl_divergence_), "perplexity": used}


def _kept(vectors: Floats, points: Floats) -> float | None:
    """Whether neighbours in the plane are neighbours in the space; None where there are too few words to say."""
    from sklearn.manifold import trustworthiness  # slow to import

    if len(vectors) <= 2 * _NEIGHBOURS:
        return None
    return float(trustworthiness(vectors, points, n_neighbors=_NEIGHBOURS))
