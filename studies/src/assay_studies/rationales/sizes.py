"""How large the study is: minutes on a GPU, or two on one core with --quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """The texts that rationales are written for, those whose human explanations are read, and random draws.

    A dataset of size 0 is left out; `read` explanations are scored by the writer, which is cheaper than to write.
    """

    esnli: int = 2000
    cose: int = 500
    read: int = 5000
    draws: int = 3

    small: ClassVar[Mapping[str, int]] = {"esnli": 8, "cose": 4, "read": 12, "draws": 1}
