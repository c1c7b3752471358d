"""Files of words that may replace each other: a word, then its synonyms, one line for each word.

film movie picture                 separated by blanks, tabs or commas; a word may come in several lines
"""

from __future__ import annotations

import re
from pathlib import Path

from assay.errors import BadInput

_BETWEEN = re.compile(r"[\s,;]+")


def read_synonyms(path: str | Path) -> dict[str, frozenset[str]]:
    """For every word, in small letters, the words that may stand in its place."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the file of synonyms {str(path)!r} cannot be read: {error}.") from error
    found: dict[str, set[str]] = {}
    for line in lines:
        word, *others = [part.lower() for part in _BETWEEN.split(line.strip()) if part] or [""]
        if others:
            found.setdefault(word, set()).update(others)
    if not found:
        raise BadInput(f"the file {str(path)!r} has no line with a word and its synonyms.")
    return {word: frozenset(others) for word, others in found.items()}
