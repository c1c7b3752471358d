"""Input features: which words matter for a prediction (survey, section 6)."""
