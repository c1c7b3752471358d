"""Vocabulary (survey, section 12): directions in word vectors, and rotated dimensions."""

from __future__ import annotations

from assay_studies.whole_model import row_study
from assay_studies.whole_model.sizes import VocabularySizes
from assay_studies.whole_model.vocabulary import DIRECTION, ROTATION

STUDY = row_study(
    "vocabulary", "Vocabulary: projections and rotations", "section 12", VocabularySizes, (DIRECTION, ROTATION)
)
