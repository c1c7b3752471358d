"""Methods that explain what a model knows of words, whatever text they stand in (survey, section 12)."""
