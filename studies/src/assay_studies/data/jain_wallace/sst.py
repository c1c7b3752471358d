"""The Stanford Sentiment Treebank as Jain and Wallace released it: sst/jw_sst_dataset.csv, 6,920 / 872 / 1,821 rows.

Sentences that are not neutral, without any mark, so that "it's" is "it s". Socher et al. (2013),
doi:10.18653/v1/D13-1170.
"""

from __future__ import annotations

from pathlib import Path

from assay.data.sst import LABELS
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import Split, tabled

BOUNDS = Bounds(above=5)
TABLE_1 = ("3034 / 3321", "863 / 862")
_NOTE = "The authors' own table; with their dropping of the longest text, the sizes are the published ones."


def read(directory: Path) -> Split:
    return tabled("sst", directory / "sst" / "jw_sst_dataset.csv", LABELS, (_NOTE,))
