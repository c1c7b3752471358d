"""Words taken away at random until as many are left as input reduction leaves (Feng et al. 2018, section 2.3).

    S uniform over the sets of m words,  x_S = the words of S in their order

The draw depends on the text, the length and the seed only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

import numpy as np

from assay.errors import BadInput
from assay.text.text import Row, Text

_TRIES = 200  # draws after which no further version is looked for


def random_versions(text: Text, length: int, count: int, seed: int = 0) -> list[Text]:
    """So many versions of so many words, drawn one by one: the same version may come twice."""
    return list(islice(_drawn(text, length, seed), count))


def another(text: Text, length: int, known: Collection[Row], seed: int = 0) -> Text | None:
    """A version that does not read like one of the known ones; None where there is none to be found."""
    versions = islice(_drawn(text, length, seed), _TRIES)
    return next((version for version in versions if version.read.strings not in known), None)


def _drawn(text: Text, length: int, seed: int) -> Iterator[Text]:
    if not 0 <= length <= len(text):
        raise BadInput(f"a text of {len(text)} words cannot be shortened to {length} words.")
    rng = np.random.default_rng([seed, text.seed, length])
    while True:
        keep = np.zeros(len(text), dtype=bool)
        keep[rng.permutation(len(text))[:length]] = True
        yield text.keep(keep)
