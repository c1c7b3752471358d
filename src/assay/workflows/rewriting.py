"""Rules of words applied to any texts, for more training data or to look at: the explained model is not asked.

    rules = read_rules(Path("rules.json"))                # what `assay describe --method sear --out rules.json` wrote
    for one in rewritten(rules, sample): one.strings, one.rule, one.label

Each rule that applies to a text makes one new text of it. Where a rule asks for a part of speech, a tagger is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput
from assay.explanations.base import Explanation
from assay.explanations.rules import Rules
from assay.models import load
from assay.questions.base import Conversation
from assay.questions.tags import tags_of
from assay.storage.files import read_json, write_named
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Row, Text
from assay.text.word_rules import WordRule


@dataclass(frozen=True)
class RewrittenRow:
    """A row of a sample after one rule; the number of the row counts from 1."""

    row: int
    original: Row
    strings: Row
    rule: str
    label: str | None

    def to_dict(self) -> dict[str, Any]:
        """The texts first, under the names that the readers of Assay know."""
        texts = dict(zip(("text", "pair"), self.strings, strict=False))
        before = dict(zip(("original", "original_pair"), self.original, strict=False))
        return (
            texts
            | ({} if self.label is None else {"label": self.label})
            | before
            | {"rule": self.rule, "row": self.row}
        )


def read_rules(path: Path) -> Rules:
    """Rules that change words, from a file that `describe --out` wrote."""
    data = read_json(path, "give the file that `assay describe --method sear --out FILE` wrote")
    if data is None:
        raise BadFile(f"there is no file {path}.")
    if not isinstance(data, dict) or data.get("kind") != Rules.kind:
        raise BadFile(f"{path} holds no rules: give the file that `assay describe --method sear --out FILE` wrote.")
    try:
        found = Explanation.from_dict(data)
        assert isinstance(found, Rules)
        [WordRule.of(rule.numbers) for rule in found.rules]
    except (BadInput, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"the rules of {path} cannot be read: {error}") from error
    return found


def rewritten(rules: Rules, sample: Sample, tagger: str | None = None) -> Iterator[RewrittenRow]:
    """Every text of the sample after every rule that applies to it, in the order of the sample."""
    changes = [rule.change for rule in rules.rules if rule.change is not None]
    edited = int(rules.facts.get("changes", {}).get("edited", 0))
    if not any(change.needs_tags for change in changes):
        for row in sample:
            yield from _rows(row, edited, [(change, _text(row, edited)[1]) for change in changes], {})
        return
    engine = Engine(load(tagger or rules.about.parameters.get("tagger") or "tagger"))
    for outcome in engine.run(partial(_tagged, row, edited, changes)() for row in sample):
        yield from outcome.get()


def _tagged(row: Example, edited: int, changes: list[WordRule]) -> Conversation[list[RewrittenRow]]:
    text = _text(row, edited)[1]
    starts = [(change, start) for change in changes for start in change.possible(text.words)]
    asked = {at for change, start in starts for at, _ in change.tagged(start)}
    tags = yield from tags_of(text.strings[0], asked, None)
    return list(_rows(row, edited, [(change, text) for change in changes], tags))


def _text(row: Example, edited: int) -> tuple[Row, Text]:
    """The strings of a row, and the one that the rules change."""
    if edited >= len(row.strings):
        raise BadInput(f"row {row.position + 1}: the rules change the second text of a pair; name its column.")
    return row.strings, Text.of(row.strings[edited])


def _rows(
    row: Example, edited: int, pairs: list[tuple[WordRule, Text]], tags: dict[int, str]
) -> Iterator[RewrittenRow]:
    for change, text in pairs:
        new = change.applied(text, change.places(text.words, tags))
        if new.words and new.strings != text.strings:
            strings = (*row.strings[:edited], new.strings[0], *row.strings[edited + 1 :])
            yield RewrittenRow(row.position + 1, row.strings, strings, str(change), row.label)


def write_rows(path: Path, rows: list[RewrittenRow]) -> None:
    """As .jsonl or .csv, by the name of the file."""
    if path.suffix == ".jsonl":
        lines = (json.dumps(one.to_dict(), ensure_ascii=False) for one in rows)
        write_named(path, "".join(f"{line}\n" for line in lines))
    elif path.suffix == ".csv":
        import pandas as pd  # slow to import, and only wanted here

        write_named(path, pd.DataFrame([one.to_dict() for one in rows]).to_csv(index=False))
    else:
        raise BadFile(f"{path} must end in .jsonl or .csv.")
