"""Whether the pieces of a tokenizer never reach over a blank, by its own description.

It is so where a step before the model cuts at blanks, no step of the normaliser looks at more than a character or makes
blanks, and no added token swallows them. What is not known to be so counts as not so.
"""

from __future__ import annotations

import json
import re
from typing import Any

_CUTS_AT_BLANKS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "ByteLevel", "Metaspace"}
_CHARACTERWISE = {
    "BertNormalizer",
    "Lowercase",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "StripAccents",
    "Nmt",
    "Precompiled",
    "Strip",
}


def cuts_at_blanks(tokenizer: Any) -> bool:
    """Of a fast tokenizer."""
    about = json.loads(tokenizer.backend_tokenizer.to_str())
    before = _flat(about.get("pre_tokenizer"), "pretokenizers")
    normal = _flat(about.get("normalizer"), "normalizers")
    return (
        any(_cuts(step) for step in before)
        and all(_characterwise(step) for step in normal)
        and not any(token["rstrip"] or " " in token["content"] for token in about.get("added_tokens", []))
    )


def _flat(step: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    if step is None:
        return []
    return [leaf for part in step[inner] for leaf in _flat(part, inner)] if inner in step else [step]


def _cuts(step: dict[str, Any]) -> bool:
    return step["type"] in _CUTS_AT_BLANKS and bool(step.get("use_regex", True)) and bool(step.get("split", True))


def _characterwise(step: dict[str, Any]) -> bool:
    if step["type"] != "Replace":
        return step["type"] in _CHARACTERWISE
    # What it looks for is never a blank, nor anything that could be one: a class that leaves blanks out cannot.
    pattern = str(step["pattern"].get("Regex") or re.escape(step["pattern"]["String"]))
    left = re.sub(r"\[\^\\s[^\[\]]*\]", "", pattern)
    left = re.sub(r"\[([^\^\[\]][^\[\]]*)\]", r"\1", left)
    return not re.search(r"[\s.\[]|\\[sSWDP]", left) and not re.search(r"\s", step["content"])
