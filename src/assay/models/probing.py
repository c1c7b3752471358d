"""The fingerprint of a model of which only the answers are known: its code and data where they can be had, and answers.

The answers to a few fixed texts are always part of it: they tell of what lies out of reach, such as a server, a file
that is read at every call, or an extension module. What a call changes (a counter, a cache, a random generator) is no
part of it, so that a model that was used is the same model; and where the answers themselves change from call to call,
they are left out, which is said in a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from hashlib import blake2b
from json import dumps
from typing import Any
from uuid import uuid4

import numpy as np

from assay.models.code_fingerprint import code_parts

TEXTS = ("a", "a gripping , funny film", "The plot is dull; the acting, worse: 0 of 10.", "ein ÄÖÜ, 東京 ¡olé!")
_PAIRS = tuple(zip(TEXTS, TEXTS[::-1], strict=True))
Ask = Callable[[list[Any]], Any]


def fingerprint(name: str, ask: Ask, source: Any, settings: dict[str, Any]) -> str:
    """The digest; `source` is the object whose code and data count, `settings` are how its answers are read."""
    first, asked = _first(ask)
    before = code_parts(source)
    _answers(ask, asked(uuid4().hex))  # a text that no cache knows
    second = _answers(ask, list(TEXTS if asked is _alone else _PAIRS))
    after = code_parts(source)
    parts = {part: digest for part, digest in before.items() if after.get(part) == digest}
    if first != second:
        warnings.warn(
            f"{name} answers the same text differently from call to call, so that a change of it can be seen in its "
            "code alone.",
            stacklevel=3,
        )
    told = {"parts": parts, "answers": first if first == second else "vary", **settings}
    return blake2b(dumps(told, sort_keys=True).encode(), digest_size=16).hexdigest()


def _first(ask: Ask) -> tuple[Any, Callable[[str], list[Any]]]:
    """The answers to the fixed texts, as pairs where the model takes nothing else."""
    alone = _answers(ask, list(TEXTS))
    if not isinstance(alone, str):
        return alone, _alone
    pairs = _answers(ask, list(_PAIRS))
    return (alone, _alone) if isinstance(pairs, str) else (pairs, _pair)


def _alone(text: str) -> list[Any]:
    return [text]


def _pair(text: str) -> list[Any]:
    return [(text, text)]


def _answers(ask: Ask, texts: list[Any]) -> list[str] | str:
    """Five digits of every number: the last ones of a float differ among machines."""
    try:
        return [f"{value:.5g}" for value in np.asarray(ask(texts), dtype=np.float64).ravel()]
    except Exception as error:  # whatever the user's own function raises
        return f"it raises {type(error).__name__}"
