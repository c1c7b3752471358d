"""A word in the capital letters of another, which it replaces."""

from __future__ import annotations


def written_like(new: str, old: str) -> str:
    """FILM becomes MOVIE, Film Movie, and anything else stays as it is."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new.capitalize() if old[:1].isupper() and old[1:].islower() else new
