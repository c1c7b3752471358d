"""How large the study is: half an hour on two cores, or two minutes with --quick."""

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

    esnli: int = 150
    cose: int = 60
    read: int = 600
    draws: int = 5

    small: ClassVar[Mapping[str, int]] = {"esnli": 4, "cose": 2, "read": 8, "draws": 1}
