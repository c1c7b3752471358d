"""What the pages of the studies of whole models share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay_studies.kept import Kept
from assay_studies.page import Page

ONCE = (
    "Every model and every probe was trained once: the intervals are over texts, words or pairs, and training variance "
    "is not in them."
)
BUNDLED = "The models are the bundled ones, six layers of 384 numbers"


def row_page(name: str, title: str, sections: str, **more: Any) -> Page:
    """The page of one row of the survey; the further settings are those of a page."""
    return Page(
        title=title,
        paper="Madsen, Reddy and Chandar (2022), *Post-hoc Interpretability for Neural NLP: A Survey*, "
        f"[arXiv:2108.04840](https://arxiv.org/abs/2108.04840), {sections}.",
        run=(
            f"assay study {name} --data DIR --out {name}",
            f"assay study {name} --data DIR --quick",
            f"assay study {name} --page {name}     # this page",
        ),
        **{"variance": ONCE, **more},
    )


def numbers(kept: Kept, key: str, name: str, digits: int = 3) -> Iterator[tuple[str, str]]:
    """What this number of a claim is about, and the number with its interval, as words of a page need them."""
    for one in kept.claims.get(key, ()):
        if one.name == name and one.estimate is not None:
            yield one.about, one.estimate.shown(digits)
