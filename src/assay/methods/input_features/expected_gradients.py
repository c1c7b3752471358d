"""Expected gradients: integrated gradients, averaged over reference texts instead of one baseline.

    a_i = E over x' and t of  (x_i - x'_i) . d f_c(x' + t (x - x')) / d x_i       x' of the corpus, t ~ U(0, 1)

Erion, Janizek, Sturmfels, Lundberg and Lee (2021), arXiv:1906.10670. The scores sum to f(x) minus the mean of f(x')
over the references, but for the error of sampling: `gap` among the facts is by how much they miss it, as a share of
it, and `gap_error` the standard error of that; the scores are called unconverged where the miss is above the tolerance,
measured by the mean of |f(x) - f(x')|. Standard errors come from how samples differ that are neighbours on the way
(of the same reference, where each is used more than once), and rather say too much than too little.

What words the paper leaves open: the pieces of a reference stand, in their order, in the place of the pieces of the
explained words, cut where it is longer and repeated where it is shorter; special tokens, positions and fields that are
not explained stay. So f(x') is not quite the model's answer to the reference by itself. In a pair the reference runs on
from one field to the next.

Where we depart: t is stratified, one draw from each of n equal parts of (0, 1), and the references are drawn
without replacement and used equally often, their draws of t spread over all of the way; a corpus smaller than
`samples` is used whole. Which part of the way a reference gets is drawn anew in every turn: if it kept its place in the
turns, its draws would all be too early or all too late, by the same step, and their mean would be off by far more than
their differences show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Gradients
from assay.questions.base import Conversation
from assay.questions.gradients import InputGradient
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.corpus import Corpus
from assay.text.text import Text

_SMALLEST = 1e-6  # a difference smaller than this is taken as this: a gap relative to nothing says nothing


@method(
    title="Expected gradients",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1906.10670",
    marks="D",
    needs=(InputGradient,),
)
@dataclass(frozen=True, kw_only=True)
class ExpectedGradients:
    """Each word's part of the way from what the model says of other texts to what it says of this one."""

    corpus: Corpus = Corpus()
    samples: int = 128
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise BadInput("expected_gradients needs samples >= 2.")

    def explain(self, case: Case) -> Conversation[TokenScores]:
        draw = _Draw.of(_references(self.corpus), self.samples, case.generator())
        texts, at = [*draw.texts, *draw.used, draw.used[0]], [*draw.at, *[0.0] * len(draw.used), 1.0]
        (answer,) = yield InputGradient(case.text, aim=case.aim, baseline=texts, at=at)
        return self._told(case, draw, answer)

    def _told(self, case: Case, draw: _Draw, answer: Gradients) -> TokenScores:
        n = len(draw.at)
        slopes, starts, value = answer.scores[:n], answer.values[n:-1], float(answer.values[-1])
        rises = value - np.tile(starts, draw.times)
        misses = (slopes.sum(axis=1) - rises)[:, None]
        size = max(abs(value - starts.mean()), _SMALLEST)
        facts = {
            "gap": float(abs(misses.mean()) / size),
            "gap_error": float(draw.error(misses)[0] / size),
            "references": len(draw.used),
            "value": value,
            "baseline": float(starts.mean()),
            "standard_errors": draw.error(slopes).tolist(),
        }
        missed = abs(misses.mean()) > self.tolerance * max(np.abs(rises).mean(), _SMALLEST)
        return TokenScores(case, slopes.mean(axis=0), facts=facts, warnings=tuple(self._warnings(bool(missed))))

    def _warnings(self, missed: bool) -> Iterator[str]:
        if missed:
            yield f"unconverged: the scores miss what they should sum to by more than {self.tolerance:.1%}"


@dataclass(frozen=True)
class _Draw:
    """The references in use, how often each is used, and where on its way the gradient is taken each time."""

    used: tuple[Text, ...]
    times: int
    at: tuple[float, ...]

    @classmethod
    def of(cls, references: tuple[Text, ...], samples: int, rng: np.random.Generator) -> _Draw:
        chosen = rng.permutation(len(references))[:samples]
        times = ceil(samples / len(chosen))
        n = times * len(chosen)
        at = ((np.arange(n) + rng.random(n)) / n).reshape(times, -1)
        if times > 1:
            at = rng.permuted(at, axis=1)
        return cls(tuple(references[i] for i in chosen), times, tuple(at.ravel().tolist()))

    @property
    def texts(self) -> tuple[Text, ...]:
        """The reference of every sample: all of them in every turn, so that each has its share of all of the way."""
        return self.used * self.times

    def error(self, samples: Floats) -> Floats:
        """The standard error of the mean of samples [n, ...], by how neighbours on the way differ."""
        table = samples.reshape(self.times, len(self.used), -1)
        steps = np.diff(table if self.times > 1 else table.swapaxes(0, 1), axis=0)
        return np.asarray(np.sqrt((steps**2).mean(axis=(0, 1)) / 2 / len(samples)))


@lru_cache(maxsize=4)
def _references(corpus: Corpus) -> tuple[Text, ...]:
    """The texts of the corpus that have words; read once for all texts that are explained with them."""
    texts = tuple(text for text in map(Text.of, corpus) if text.words)
    if not texts:
        raise BadInput(
            "expected_gradients compares a text with reference texts, and none was given: "
            "give them as corpus=[...], or in a shell as -p corpus=@FILE, one text a line."
        )
    return texts
