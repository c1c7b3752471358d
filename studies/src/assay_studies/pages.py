"""`assay study NAME --page DIR`: docs/studies/NAME.md, its figures, and the tables that it is made of, from a run.

docs/studies/NAME.md               the page
docs/studies/NAME/tables/*.csv     what it is made of; a test makes the page of them again and compares
docs/studies/NAME/figures/*.png    its figures

A run of a part of the study, as of some datasets, replaces what it has; the rest of the page stays, see `merging`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from assay.errors import BadFile
from assay.storage.durable import write_whole
from assay_studies import STUDIES
from assay_studies.charts import can_draw
from assay_studies.kept import Kept
from assay_studies.merging import merged
from assay_studies.page import Page

PAGES = Path("docs/studies")


def find_page(name: str) -> Page:
    page: Page = import_module(f"assay_studies.{name}.page").PAGE
    return page


def write_page(name: str, run: Path, pages: Path = PAGES) -> Iterator[Path]:
    """The page of a study from the directory of a run, or from the one that holds its tables."""
    if name not in STUDIES:
        raise BadFile(f"there is no page of {name}.")
    place = run / "tables" if (run / "tables").is_dir() else run
    kept, page, there = Kept.read(place), find_page(name), pages / name / "tables"
    if there.is_dir() and there.resolve() != place.resolve():
        kept = merged(Kept.read(there), kept)
    kept = page.derived(kept)
    for file, data in kept.files().items():
        _write(pages / name / "tables" / file, data)
    if can_draw():
        for figure, picture in page.figures(kept).items():
            _write(pages / name / "figures" / f"{figure}.png", picture)
    _write(pages / f"{name}.md", page.text(name, kept).encode())
    yield pages / f"{name}.md"


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from error
