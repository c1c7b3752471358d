"""Concepts: through which parts of a model a concept of the input has its effect (survey, section 11)."""
