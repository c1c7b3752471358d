"""Reasons in words (section 10 of the survey): what a language model writes about a prediction."""
