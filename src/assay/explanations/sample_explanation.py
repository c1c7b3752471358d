"""What explanations of a sample have in common: which texts they are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from assay.explanations.base import Explanation
from assay.text.sample import Sample


@dataclass(frozen=True)
class SampleId:
    """Which texts a description is about: what the sample is called, a digest of its rows, and how many there are.

    A description of the model alone is about none: its size is 0.
    """

    name: str
    digest: str
    size: int

    @classmethod
    def of(cls, sample: Sample) -> SampleId:
        return cls(sample.name, sample.digest, len(sample))


@dataclass(frozen=True, eq=False)
class SampleExplanation(Explanation):
    """A description of what a model does with the texts of a sample."""

    kind: ClassVar[str] = "SampleExplanation"

    sample: SampleId

    def _of_what(self) -> str:
        many = self.sample.size
        return f" of {many:,} {'text' if many == 1 else 'texts'} ({self.sample.name})" if many else ""

    def generator(self) -> np.random.Generator:
        """Randomness of this sample alone, from the seed of the description and the digest of the sample."""
        return np.random.default_rng([self.about.seed, int(self.sample.digest, 16), 1])

    def _subject(self) -> dict[str, Any]:
        return {"sample": vars(self.sample).copy()}

    @classmethod
    def _subject_of(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"sample": SampleId(**data["sample"])}
