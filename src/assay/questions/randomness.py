"""Random numbers for a method that describes a sample, or the model alone; `Case.generator` is the same for one text.

    generator = yield Randomness(sample)                               -> a numpy Generator

It depends on the seed that the user gave and on what the sample holds, and on nothing else: neither other conversations
nor the global generators change a number.
"""

from __future__ import annotations

import numpy as np

from assay.questions.base import Inquiry
from assay.text.sample import Sample


class Randomness(Inquiry):
    """A generator of random numbers, the same one for a seed and a sample; the user's seed where none is given."""

    def __init__(self, sample: Sample, seed: int | None = None) -> None:
        self.sample, self.seed = sample, seed

    def generator(self) -> np.random.Generator:
        return np.random.default_rng([self.seed or 0, int(self.sample.digest, 16)])
