"""Linguistic information (survey, section 14): behavioral and structural probes."""

from __future__ import annotations

from assay_studies.whole_model import heuristics, layers, row_study, stereotypes
from assay_studies.whole_model.sizes import LinguisticSizes

STUDY = row_study(
    "linguistic",
    "Linguistic information: behavioral and structural probes",
    "section 14",
    LinguisticSizes,
    (heuristics.PART, heuristics.SHUFFLED, stereotypes.PART, layers.PART),
)
