"""Making the parts of a study: each is taken from its directory where it is there with the same settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from assay_studies.findings import Part
from assay_studies.kept import Kept

Say = Callable[[str], None]


def made(name: str, make: Callable[[], Part], settings: Mapping[str, Any], kept: Kept, say: Say) -> Part:
    """The part, with the time that it took when it was computed."""
    if (known := kept.part(name, settings)) is not None:
        say(f"{name}: taken from {kept.out}")
        return known
    began = perf_counter()
    part = replace(make(), seconds=round(perf_counter() - began, 1))
    kept.keep_part(part, settings)
    return part
