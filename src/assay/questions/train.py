"""Another model, trained on a sample; the answer is its name.

    name = yield Train(recipe, sample, seed=3)                         -> "@trained:DIGEST"
    answers = yield from elsewhere(conversation, name)                 any question may name it

The weights lie in a directory under a digest of the recipe, the sample and the seed. So a model that is there already
is not trained again: not after a kill, and not by another check that needs the same one.
"""

from __future__ import annotations

from typing import Any

from assay.questions.base import Inquiry
from assay.text.sample import Sample


class Train(Inquiry):
    """The name of a model trained on the sample by the recipe: a name or an object, see `assay.training.recipes`.

    Where the recipe chooses an epoch, it does so on `dev`; without it the last one is kept.
    """

    def __init__(self, recipe: Any, sample: Sample, *, seed: int = 0, dev: Sample | None = None) -> None:
        self.recipe, self.sample, self.seed, self.dev = recipe, sample, seed, dev

    def sent_to(self, model: str) -> Train:
        """Training does not depend on the model that is asked."""
        return self
