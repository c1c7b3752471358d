"""What a model would answer if a part of it computed something else.

    table = yield UnitCounts()                                    -> UnitTable: how many heads and neurons there are
    answers = yield Intervene(text, [(site,), ...], value)        -> Predictions, one row for each set of sites
    numbers = yield Activations(text, layer)                      -> what the neurons of a layer compute at each piece

    Site(3, "head", 5)               what head 5 of layer 3 adds up, before the layer's output projection
    Site(3, "neuron", 170)           neuron 170 of the feed-forward part of layer 3, behind its activation function
    Site(3, "layer")                 the state that layer 3 gives
    Site(3, "head", 5, -1)           the same at the last piece only; without a position, at every piece

Layers, heads and neurons are counted from 0; without an index all heads, or all neurons, of the layer are meant. The
value is "zero", "mean" (over the pieces of the text), or another text: then it is what that text has at the same site.
Without a position both texts must have the same number of pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import Predictions
from assay.questions.base import OneRow, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Text

Part: TypeAlias = Literal["layer", "head", "neuron"]
PARTS: tuple[Part, ...] = ("layer", "head", "neuron")
Value: TypeAlias = Literal["zero", "mean"] | Text


class Site(NamedTuple):
    """A part of the model: where the value is put."""

    layer: int
    part: Part
    unit: int | None = None
    position: int | None = None


class InterveneRow(NamedTuple):
    """A text (with what is explained of it), the sites whose values are replaced together, and by what."""

    text: Text
    sites: tuple[Site, ...]
    value: Value


@dataclass(frozen=True)
class UnitTable:
    """How many heads and neurons each layer has."""

    heads: tuple[int, ...]
    neurons: tuple[int, ...]

    def sites(self, part: Part, position: int | None = None) -> list[Site]:
        """All units of this kind, layer by layer."""
        if part == "layer":
            return [Site(layer, part, None, position) for layer in range(len(self.heads))]
        sizes = self.heads if part == "head" else self.neurons
        return [Site(layer, part, i, position) for layer, size in enumerate(sizes) for i in range(size)]


class Intervene(Question):
    """The outputs for a text under interventions, each at a set of sites.

    With further texts and values `beside` it, each set of sites is asked of all of them in turn: rows that a model
    reads as one (a prompt, and two words that may follow it) are then in one batch.
    """

    def __init__(
        self,
        text: Text,
        sites: Sequence[tuple[Site, ...]],
        value: Value = "zero",
        *,
        beside: Sequence[tuple[Text, Value]] = (),
    ) -> None:
        self.pairs = ((text, value), *beside)
        for _, given in self.pairs:
            if not isinstance(given, Text) and given not in ("zero", "mean"):
                raise BadInput(f"the value of an intervention is zero, mean or a text, not {given!r:.60}.")
        for site in {site for together in sites for site in together}:
            if site.part not in PARTS or (site.part == "layer" and site.unit is not None):
                raise BadInput(f"a site is a layer, or a head or neuron of one, not {tuple(site)}.")
        self.sites = [tuple(together) for together in sites]

    def rows(self, model: Speaker) -> Sequence[InterveneRow]:
        return [InterveneRow(text, together, value) for together in self.sites for text, value in self.pairs]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> Predictions:
        return Predictions(np.array(values), model.multi_label, model.one_logit)


class UnitCounts(Question):
    """How many layers, heads and neurons the model has."""

    def rows(self, model: Speaker) -> Sequence[str]:
        return ["units"]

    def assemble(self, values: Sequence[Floats], model: Speaker) -> UnitTable:
        heads, neurons = values[0].astype(int).tolist()
        return UnitTable(tuple(heads), tuple(neurons))


class ActivationRow(NamedTuple):
    """A text and the layer whose neurons are wanted."""

    text: Text
    layer: int


class Activations(OneRow):
    """What the neurons of a layer's feed-forward part compute at every piece of a text: PieceActivations."""

    remembered = False
    weight = 16

    def __init__(self, text: Text, layer: int) -> None:
        self.row = ActivationRow(text, layer)
