"""Ensembles: a few texts that stand for what a model does with all of them (survey, section 13)."""
