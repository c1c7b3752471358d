"""Which texts are long enough and short enough: both bounds are strict, and count tokens of the first string.

As Jain and Wallace do for classification, in all three parts; questions and pairs are never left out, and a text
without a token always is. In their release
a bound that is not given is the shortest or the longest text of the part itself, so that these texts are dropped too,
with no word about it: `drop_extremes` does the same. With it the sizes of SST are the published ones, to the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.errors import BadInput
from assay.text.example import Example
from assay_studies.data.jain_wallace.splits import Split


@dataclass(frozen=True)
class Bounds:
    """A text stays when it has more tokens than `above` and fewer than `below`."""

    above: int | None = None
    below: int | None = None


def filtered(split: Split, bounds: Bounds, *, drop_extremes: bool = False) -> Split:
    """The split without texts that are too short or too long."""
    if split.task != "classification":
        return split
    train, dev, test = (_kept(part, bounds, drop_extremes) for part in (split.train, split.dev, split.test))
    if not train or not test:
        raise BadInput(f"no text of {split.name} is left within {bounds}: choose wider bounds.")
    return replace(split, train=train, dev=dev, test=test)


def _kept(part: Sequence[Example], bounds: Bounds, drop_extremes: bool) -> tuple[Example, ...]:
    lengths = [len(example.strings[0].split()) for example in part]
    above, below = bounds.above, bounds.below
    if drop_extremes and lengths:
        above = min(lengths) if above is None else above
        below = max(lengths) if below is None else below
    pairs = zip(part, lengths, strict=True)
    return tuple(e for e, n in pairs if n > (above or 0) and (below is None or n < below))
