"""The texts of the sweep: short ones, of several lengths, and what is asked of each at each task."""

from __future__ import annotations

from typing import Any

TEXTS = ("the film", "a good film", "the best comedy films")
_LONG = "unpredictable audience unwatchable beginning"  # few words and many pieces: the company
_CONTEXTS = ("a man is playing a guitar", "two dogs run", "nobody is playing music outside")
_CONTINUED = [*zip(TEXTS, ("is", "never lets go", "and"), strict=True), (_LONG, "is")]
GIVEN: dict[str, list[Any]] = {
    "classification": [*TEXTS, _LONG],
    "tagging": [*zip(TEXTS, ("1:film", "0:a", "2:comedy"), strict=True), (_LONG, "1:audience")],
    "span": [*zip(TEXTS, _CONTEXTS, strict=True), (_LONG, _CONTEXTS[2])],
    "masked": [*zip(TEXTS, ("1:film", "0:a", "2:comedy"), strict=True), (_LONG, "1:audience")],
    "causal": _CONTINUED,
    "seq2seq": _CONTINUED,
}
