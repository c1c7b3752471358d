"""Discharge summaries of MIMIC-III: has the patient diabetes; is an anemia chronic or acute.

mimic/mimic_diabetes_dataset.csv and mimic/mimic_anemia_dataset.csv, as the authors' preprocessing writes them from the
tables of MIMIC: columns text, label, exp_split. The data are open to people who have signed for them.

Diabetes is the code 250.00. Anemia: 1 is 285.1 (acute) and 0 is 285.2 (chronic), in the authors' code and by the sizes
of the paper's Table 1, although its text has them the other way round; all published numbers for a class follow the
code, so we do. Johnson et al. (2016), doi:10.1038/sdata.2016.35.
"""

from __future__ import annotations

from pathlib import Path

from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import Split, tabled

DIABETES, ANEMIA = ("no diabetes", "diabetes"), ("chronic", "acute")
DIABETES_BOUNDS, ANEMIA_BOUNDS = Bounds(above=6, below=4000), Bounds(below=4000)
DIABETES_TABLE_1, ANEMIA_TABLE_1 = ("6381 / 1353", "1295 / 319"), ("1847 / 3251", "460 / 802")


def diabetes(directory: Path) -> Split:
    return tabled("diabetes", directory / "mimic" / "mimic_diabetes_dataset.csv", DIABETES)


def anemia(directory: Path) -> Split:
    note = "Label 1 is acute, as in the authors' code and sizes; the paper's text says chronic."
    return tabled("anemia", directory / "mimic" / "mimic_anemia_dataset.csv", ANEMIA, (note,))
