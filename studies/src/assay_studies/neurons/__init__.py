"""Neurons (survey, section 15.2): formulas of neurons, and whether the neurons matter."""

from __future__ import annotations

from assay_studies.whole_model import neurons, row_study
from assay_studies.whole_model.sizes import NeuronSizes

STUDY = row_study("neurons", "Neurons: compositional formulas", "section 15.2", NeuronSizes, (neurons.PART,))
