"""Influential examples: which training texts made the model say that (the survey's section 8)."""
