"""Texts: their words, how they are split, and what is compared with them."""
