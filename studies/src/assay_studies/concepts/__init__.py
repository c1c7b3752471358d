"""Concepts (survey, section 11): through which heads of a language model a stereotype acts."""

from __future__ import annotations

from assay_studies.whole_model import concepts, row_study
from assay_studies.whole_model.sizes import ConceptSizes

STUDY = row_study("concepts", "Concepts: mediation by attention heads", "section 11", ConceptSizes, concepts.PARTS)
