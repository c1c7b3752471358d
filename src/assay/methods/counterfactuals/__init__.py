"""Counterfactuals: the least that would have to be different for another answer."""
