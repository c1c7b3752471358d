"""The datasets of Jain and Wallace (2019), arXiv:1902.10186, prepared as there: texts of tokens, in three parts.

    split = read("sst", "data")          data/sst/jw_sst_dataset.csv; every dataset's module says which files it reads
    split.train, split.dev, split.test   examples; split.labels in the paper's order of classes
    split.notes                          what differs from the paper's data, with the sizes of both

The files are read where they are; none comes with Assay.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assay.data.files import PathLike
from assay.errors import UnknownName
from assay_studies.data.jain_wallace import adr, ag_news, babi, cnn, imdb, mimic, newsgroups, snli, sst
from assay_studies.data.jain_wallace.filters import Bounds as Bounds
from assay_studies.data.jain_wallace.filters import filtered
from assay_studies.data.jain_wallace.splits import Split as Split


class _Dataset(NamedTuple):
    read: Callable[[Path], Split]
    bounds: Bounds
    table_1: tuple[str, str]  # the published sizes of train and test


_DATASETS = {
    "sst": _Dataset(sst.read, sst.BOUNDS, sst.TABLE_1),
    "imdb": _Dataset(imdb.read, imdb.BOUNDS, imdb.TABLE_1),
    "adr": _Dataset(adr.read, adr.BOUNDS, adr.TABLE_1),
    "newsgroups": _Dataset(newsgroups.read, newsgroups.BOUNDS, newsgroups.TABLE_1),
    "ag_news": _Dataset(ag_news.read, ag_news.BOUNDS, ag_news.TABLE_1),
    "diabetes": _Dataset(mimic.diabetes, mimic.DIABETES_BOUNDS, mimic.DIABETES_TABLE_1),
    "anemia": _Dataset(mimic.anemia, mimic.ANEMIA_BOUNDS, mimic.ANEMIA_TABLE_1),
    "cnn": _Dataset(cnn.read, cnn.BOUNDS, cnn.TABLE_1),
    "babi_1": _Dataset(partial(babi.read, task=1), babi.BOUNDS, babi.TABLE_1),
    "babi_2": _Dataset(partial(babi.read, task=2), babi.BOUNDS, babi.TABLE_1),
    "babi_3": _Dataset(partial(babi.read, task=3), babi.BOUNDS, babi.TABLE_1),
    "snli": _Dataset(snli.read, snli.BOUNDS, snli.TABLE_1),
}
NAMES = tuple(_DATASETS)


def read(name: str, directory: PathLike, *, bounds: Bounds | None = None, drop_extremes: bool = False) -> Split:
    """The dataset, its texts within `bounds` (the published ones by default; `Bounds()` leaves out none)."""
    if name not in _DATASETS:
        raise UnknownName.of("dataset of Jain and Wallace", name, NAMES)
    dataset = _DATASETS[name]
    whole = dataset.read(Path(directory))
    split = filtered(whole, dataset.bounds if bounds is None else bounds, drop_extremes=drop_extremes)
    return split.beside(*dataset.table_1)
