"""A YAML file of templates as plain data, and what is wrong with it in one sentence.

Everything is read as it is written: `no` is the word no and `10:30` a time, where YAML would make a truth value of the
one and a number of the other. A key that stands twice is refused: YAML keeps the last one and says nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

from assay.errors import BadFile, UnknownName

_TOP = ("include", "labels", "words", "tests")
_LISTS = ("template", "then")  # what may be a list of two strings, for models of pairs
_KEYS = {
    "ability",
    "case",
    "template",
    "label",
    "answer",
    "vary",
    "then",
    "direction",
    "tolerance",
    "rather_than",
    "wanted",
}


class _AsWritten(yaml.BaseLoader):  # type: ignore[misc]
    """Strings, lists and mappings; no key of a mapping twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [str(key.value) for key, _ in node.value]
        if twice := next((key for i, key in enumerate(keys) if key in keys[:i]), None):
            problem = f"the key {twice!r} stands twice"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        made: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return made


def suite_data(string: str, name: str) -> dict[str, Any]:
    """The mapping of a file: its tests are mappings of known keys, its words lists of strings that hold something."""
    try:
        data = _AsWritten(string).get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        why = " ".join(str(error).split())[:160]
        raise BadFile(f"{name} is not YAML: {why}.") from error
    if not isinstance(data, dict) or not isinstance(data.setdefault("tests", []), list):
        raise BadFile(f"{name} must be a mapping with a list of tests.")
    if unknown := sorted(set(data) - set(_TOP)):
        raise UnknownName.of(f"key of {name}", unknown[0], _TOP)
    include = data.get("include") or []
    return {
        "include": [include] if isinstance(include, str) else _strings(include, "include", name),
        "words": _lists(data, "words", name),
        "labels": _lists(data, "labels", name),
        "tests": [_test(test, number, name) for number, test in enumerate(data["tests"], start=1)],
    }


def place(test: dict[str, Any], number: int) -> str:
    """How a test is called in a message."""
    return f"test {number} ({test.get('case', 'without a case')})"


def _test(test: Any, number: int, name: str) -> dict[str, Any]:
    if not isinstance(test, dict):
        raise BadFile(f"{name}: each test must be a mapping with ability, case, template and what is expected.")
    where = f"{name}, {place(test, number)}"
    if unknown := sorted(set(test) - _KEYS):
        raise UnknownName.of(f"key of {where},", unknown[0], _KEYS)
    for key, value in test.items():
        parts = value if isinstance(value, list) and key in _LISTS else [value]
        if not all(isinstance(part, str) for part in parts):
            raise BadFile(f"{where}: {key!r} must be a string; put it in quotation marks.")
        if key in _LISTS and len(parts) not in (1, 2):
            raise BadFile(f"{where}: {key!r} is a string, or a list of two for models of pairs, not of {len(parts)}.")
        if not all(part.strip() for part in parts):
            raise BadFile(f"{where}: {key!r} is empty.")
    return test


def _lists(data: dict[str, Any], key: str, name: str) -> dict[str, list[str]]:
    found = data.get(key) or {}
    if not isinstance(found, dict) or not all(isinstance(one, list) and one for one in found.values()):
        raise BadFile(f"{name}: {key!r} must give each name a list.")
    return {str(one): _strings(words, f"{key}, {one}", name) for one, words in found.items()}


def _strings(words: Any, key: str, name: str) -> list[str]:
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise BadFile(f"{name}: {key!r} must be a list of words or phrases, none of them empty.")
    if twice := next((word for i, word in enumerate(words) if word in words[:i]), None):
        raise BadFile(f"{name}: {key!r} has {twice!r} twice.")
    return words
