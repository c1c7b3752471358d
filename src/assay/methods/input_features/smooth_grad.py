"""SmoothGrad: the gradient at a word, averaged over copies of the text with noise on its embeddings.

    a_i = || 1/n sum over k of  d f_c(x + e_k) / d x_i ||      e_k ~ N(0, sigma^2),  sigma = noise (max x - min x)

Smilkov, Thorat, Kim, Viegas and Wattenberg (2017), arXiv:1706.03825. The mean is taken before the norm, so that what
the noise does to the direction of the gradient cancels out. With `times_input` the mean is multiplied with the text's
own embeddings instead, which gives it a sign: a_i = x_i . mean. Maximum and minimum are over the embedding values of
the explained words, which alone get noise.

Where we depart: the paper finds 10 to 20 % of noise best for pictures; the values of word embeddings have longer tails,
so that 10 % of their range already moves a word as far as to another word. The default is 1 %, as in AllenNLP's
interpreter. Each score comes with a standard error: with u_i the direction in which the norm of the mean is measured,
the score is the mean of u_i . d f_c(x + e_k) / d x_i over k, and its error is that of a mean, u_i taken as known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import PieceGradient, PieceWords
from assay.questions.base import Conversation
from assay.questions.gradients import GradientVectors, InputGradient, Noise
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats

Norm: TypeAlias = Literal["l1", "l2", "linf"]


@method(
    title="SmoothGrad",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1706.03825",
    needs=(InputGradient, GradientVectors),
)
@dataclass(frozen=True, kw_only=True)
class SmoothGrad:
    """The norm of the mean gradient around each word, or its product with the word."""

    samples: int = 50
    noise: float = 0.01
    norm: Norm = "l2"
    times_input: bool = False

    def __post_init__(self) -> None:
        if self.samples < 2 or not 0 <= self.noise < np.inf:
            raise BadInput("smooth_grad needs samples >= 2 and noise >= 0.")

    def explain(self, case: Case) -> Conversation[TokenScores]:
        parts = yield from self._parts(case, self._noise(case))
        errors = parts.std(axis=0, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else 0 * parts[0]
        facts = {"standard_errors": errors.tolist(), **({} if self.times_input else {"signed": False})}
        return TokenScores(case, parts.mean(axis=0), facts=facts)

    def _noise(self, case: Case) -> list[Noise]:
        """One for each sample; without noise all samples are the same, and one is enough."""
        seeds = case.generator().integers(2**63, size=self.samples if self.noise else 1)
        return [Noise(self.noise, int(seed)) for seed in seeds]

    def _parts(self, case: Case, noise: list[Noise]) -> Conversation[Floats]:
        """What each sample adds to the mean [samples, words]."""
        if self.times_input:
            (answer,) = yield InputGradient(case.text, aim=case.aim, at=[1.0] * len(noise), noise=noise)
            return answer.scores  # type: ignore[no-any-return]
        return parts_of_norm((yield GradientVectors(case.text, aim=case.aim, noise=noise)), self.norm)


def parts_of_norm(samples: Sequence[PieceGradient], norm: Norm) -> Floats:
    """Each sample's part [samples, words] of the norm of the mean: its extent in the direction of the mean."""
    gradients, owners = np.stack([sample.gradient for sample in samples]), samples[0].owners
    mean = gradients.mean(axis=0, dtype=np.float64)
    match norm:
        case "l1":
            return owners.per_word(_along(gradients, np.sign(mean)))
        case "l2":
            length = np.sqrt(owners.per_word(_along(mean, mean)))
            return owners.per_word(_along(gradients, mean)) / np.where(length > 0, length, 1)
        case "linf":
            return _at_peaks(gradients, mean, owners)


def _along(gradients: Floats, direction: Floats) -> Floats:
    return np.asarray(np.einsum("...pd,pd->...p", gradients, direction, dtype=np.float64))


def _at_peaks(gradients: Floats, mean: Floats, owners: PieceWords) -> Floats:
    """The one value, of all values of a word's pieces, that is largest in the mean."""
    link = np.argsort(-np.abs(mean[owners.piece]).max(axis=-1, initial=0), kind="stable")
    words, first = np.unique(owners.word[link], return_index=True)
    piece = owners.piece[link[first]]
    place = np.abs(mean[piece]).argmax(axis=-1)
    parts = np.zeros((len(gradients), owners.words))
    parts[:, words] = gradients[:, piece, place] * np.sign(mean[piece, place])
    return parts
