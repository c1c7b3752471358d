"""How far words are taken away or put back one by one, and the area under what the model says meanwhile.

    paper       m = max(1, ceil(share n)) words; area over [0, 1], the untouched text being the point at 0
    released    m = max(2, ceil(share (n - 1))) words; that point is left out, the area is over [1/m, 1]

The second is what the released code of Pham et al. (2022), arXiv:2110.04947, computes: the width of its area, and so
the area itself, depends on the length of the text.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.shares import share_of

Variant = Literal["paper", "released"]


def how_many(n: int, share: float, variant: Variant) -> int:
    """The number of words that are moved in a text of n words; there may be fewer."""
    return max(1, share_of(n, share)) if variant == "paper" else max(2, share_of(n - 1, share))


def area(curve: Floats, variant: Variant) -> float:
    """The area under a curve whose first point is the start."""
    shown = curve if variant == "paper" else curve[1:]
    return float(np.trapezoid(shown, dx=1 / (len(curve) - 1)))
