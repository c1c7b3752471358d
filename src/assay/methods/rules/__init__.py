"""Rules: patterns of the input that a model, or a part of it, follows (survey, section 15)."""
