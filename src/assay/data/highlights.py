"""What people marked in texts, found again by the text itself.

White space does not matter for finding a text or a mark: both are counted in the other characters only, so that
"it 's fine" and "it's  fine" are one text. A word is marked when it shares a character with a mark.

`Highlights.read` knows by its content which of these a file is (plain, .gz or .xz): SST trees, e-SNLI (the published
table or token lists), MultiRC, ERASER rows, or rows of your own, one a line and several for a text that several
people marked:

    {"text": "a fine film", "spans": [[2, 6]], "label": "positive"}
    {"premise": "...", "hypothesis": "...", "spans": {"premise": [[0, 3]], "hypothesis": []}}
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import eraser_jsonl, esnli, multirc, sst
from assay.data.files import PathLike, Record, objects, opened
from assay.errors import BadFile, BadInput
from assay.explanations.reading import called_by_numbers
from assay.explanations.text_explanation import TextExplanation
from assay.text.example import Example, Mark
from assay.text.text import Masks, Row, Text

_PAIR = ("premise", "hypothesis")
_MULTIRC = re.compile(r'\{\s*"data"\s*:')
_FORMATS = "rows of {text, spans}, ERASER rows, SST trees, e-SNLI or MultiRC"


@dataclass(frozen=True)
class Annotation:
    """What one person marked, for which label."""

    label: str | None
    marks: tuple[Mark, ...]  # counted without white space


@dataclass(frozen=True)
class Marked:
    """What people marked in the texts of some explanations: for each text and explained label, which words.

    `missing` says of the other texts why they cannot be compared.
    """

    words: Mapping[tuple[Text, int], Masks]
    missing: Mapping[tuple[Text, int], str] = field(default_factory=dict)

    def __contains__(self, e: TextExplanation) -> bool:
        return (e.text, e.target) in self.words

    def __getitem__(self, e: TextExplanation) -> Masks:
        if e not in self:
            why = self.missing.get((e.text, e.target), "it was not among the explanations")
            raise BadInput(f"the text {str(e.text)[:40]!r} cannot be compared: {why}.")
        return self.words[e.text, e.target]

    @property
    def texts(self) -> list[Text]:
        return [text for text, _ in self.words]


@dataclass(frozen=True, eq=False, repr=False)
class Highlights:
    """Texts and what people marked in them."""

    entries: Mapping[Row, tuple[Annotation, ...]] = field(default_factory=dict)
    name: str = "highlights"
    _seen: dict[Hashable, Masks] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, examples: Iterable[Example], name: str = "highlights") -> Highlights:
        """From rows; several rows of one text count as several people."""
        found: dict[Row, list[Annotation]] = defaultdict(list)
        for example in examples:
            counts = [_counts(string) for string in example.strings]
            for marks in example.marks:
                squeezed = tuple(Mark(m.string, counts[m.string][m.start], counts[m.string][m.end]) for m in marks)
                found[_key(example.strings)].append(Annotation(example.label, squeezed))
        return cls({key: tuple(people) for key, people in found.items()}, name)

    @classmethod
    def read(cls, path: PathLike) -> Highlights:
        """From a file, in any of the formats above; read once as long as it does not change."""
        try:
            status = Path(path).stat()
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error
        return _read(str(path), status.st_mtime_ns, status.st_size)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        digest = blake2b(repr(sorted(self.entries.items())).encode(), digest_size=6).hexdigest()
        return f"{self.name} ({len(self)} texts, {digest})"

    __repr__ = __str__

    def __contains__(self, strings: Row) -> bool:
        return _key(strings) in self.entries

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels for which people marked something, in small letters."""
        return frozenset(one.label.casefold() for people in self.entries.values() for one in people if one.label)

    def among(self, explanations: Sequence[TextExplanation], least: int = 1, same_label: bool = True) -> Marked:
        """The words that `least` people or more marked; texts without so many people are `missing`.

        With `same_label`, of people who marked for a label only those count whose label is explained.
        """
        found: dict[tuple[Text, int], Masks] = {}
        missing: dict[tuple[Text, int], str] = {}
        for e in explanations:
            votes = self.votes(e, same_label)
            if len(votes) >= least:
                found[e.text, e.target] = np.asarray(votes.sum(axis=0) >= least)
            else:
                missing[e.text, e.target] = self._why(e, votes, least)
        return Marked(found, missing)

    def votes(self, e: TextExplanation, same_label: bool = True) -> Masks:
        """Which words each person marked [people, words]; the random maps of a text ask for the same again."""
        asked = (e.text, e.strings, e.label, e.target, same_label)
        if asked not in self._seen:
            self._seen[asked] = self._votes(e, same_label)
        return self._seen[asked]

    def _votes(self, e: TextExplanation, same_label: bool) -> Masks:
        if same_label:
            self._require_labels(e)
        names = _calls(e.about.labels, e.target)
        people = self.entries.get(_key(e.strings), ())
        people = tuple(p for p in people if not same_label or p.label is None or p.label.casefold() in names)
        places = list(_places(e.text, e.strings)) if people else []
        table = [[any(_overlap(place, mark) for mark in person.marks) for place in places] for person in people]
        return np.array(table, dtype=bool).reshape(len(people), len(e.text))

    def _why(self, e: TextExplanation, votes: Masks, least: int) -> str:
        if e.strings not in self:
            return f"not in {self.name}"
        if not len(votes):
            return "another label is explained than people marked the words for"
        return f"fewer than {least} people marked it"

    def _require_labels(self, e: TextExplanation) -> None:
        """Labels that the model does not know cannot be compared: then nothing would be left, without a reason."""
        known = {name for i in range(len(e.about.labels)) for name in _calls(e.about.labels, i)}
        strange = self.labels - known
        # One number that is no name among numbers that are: the people may have counted from another place.
        other_count = called_by_numbers(e.about.labels) and called_by_numbers(strange)
        if known and self.labels and (strange == self.labels or other_count):
            raise BadInput(
                f"{self.name} has highlights for {', '.join(sorted(self.labels))}, but the model's labels are "
                f"{', '.join(e.about.labels)}; rename them, or use all highlights by correct=false."
            )


class Given(str):
    """Highlights as a parameter: to whoever writes it down a string that names them, a path or a digest."""

    held: Highlights | None = None

    @classmethod
    def of(cls, source: str | Path | Highlights) -> Given:
        given = cls(source)
        given.held = source if isinstance(source, Highlights) else getattr(source, "held", None)
        return given

    def open(self, parameter: str) -> Highlights:
        """The highlights themselves; `parameter` is what the user calls them."""
        if self.held is not None:
            return self.held
        if not self:
            raise BadInput(f"say what is marked in the texts, by {parameter}=PATH: {_FORMATS}.")
        return Highlights.read(self)


def _calls(labels: Sequence[str], i: int) -> frozenset[str]:
    """What people may call a label: its name in small letters, or its number unless numbers are names here."""
    if not labels:
        return frozenset({str(i)})
    name = labels[i].casefold()
    return frozenset({name}) if called_by_numbers(labels) else frozenset({name, str(i)})


def _key(strings: Sequence[str]) -> Row:
    return tuple("".join(string.split()) for string in strings)


def _counts(string: str) -> list[int]:
    """How many characters that are not white space stand before each place of a string, and before its end."""
    return list(accumulate((not sign.isspace() for sign in string), initial=0))


def _places(text: Text, strings: Row) -> Iterator[Mark]:
    """Where each word stands, counted without white space."""
    counts = {f.name: (i, _counts(strings[i])) for i, f in enumerate(text.fields) if i < len(strings)}
    for name, (start, end) in zip(text.where, text.spans, strict=True):
        i, before = counts[name]
        yield Mark(i, before[start], before[end])


def _overlap(one: Mark, two: Mark) -> bool:
    return one.string == two.string and one.start < two.end and two.start < one.end


@lru_cache(maxsize=8)
def _read(path: str, modified: int, size: int) -> Highlights:
    found = Highlights.of(_examples(path), path)
    if not found:
        raise BadFile(f"{path} holds no highlights.")
    return found


def _examples(path: str) -> Iterable[Example]:
    """By what the file holds: the first signs, then the names in its first row."""
    with opened(path) as file:
        start = file.read(4096).lstrip()
    if start.startswith("("):
        return sst.read(path)
    if _MULTIRC.match(start):
        return multirc.read(path)
    if start.startswith("{"):
        return _of_rows(path)
    if "Sentence1_marked_1" in start:
        return esnli.published(path)
    raise BadFile(f"{path} is not in one of the formats that hold highlights: {_FORMATS}.")


def _of_rows(path: str) -> Iterable[Example]:
    first = next(objects(path))
    if "evidences" in first:
        return _eraser(path)
    if "premise_highlight" in first:
        return esnli.tokens(path)
    if "spans" in first:
        return map(_own, objects(path))
    return first.place.refuse(f"this has neither 'spans' nor 'evidences'; the file must hold {_FORMATS}")


def _eraser(path: str) -> Iterator[Example]:
    """With the query behind the documents; and without it, where all queries of the documents are the same."""
    rows = list(eraser_jsonl.read(path))
    queries: dict[Row, set[str | None]] = defaultdict(set)
    for row in rows:
        queries[row.documents].add(row.query)
    for row in rows:
        yield row.example()
        if row.query and len(queries[row.documents]) == 1:
            yield row.example(query=False)


def _own(row: Record) -> Example:
    names = ("text",) if "text" in row else _PAIR
    strings = tuple(row.string(name) for name in names)
    spans = row.values.get("spans")
    listed = spans if isinstance(spans, dict) else {names[0]: spans} if len(names) == 1 else None
    if listed is None:
        row.place.refuse('\'spans\' of a pair must be an object: {"premise": [[start, end]], "hypothesis": []}')
    marks = tuple(mark for name, places in listed.items() for mark in _marks(row, names, strings, name, places))
    return Example(row.name("id") or str(row.place.number), strings, row.name("label"), (marks,))


def _marks(row: Record, names: Row, strings: Row, name: str, places: Any) -> Iterator[Mark]:
    if name not in names:
        row.place.refuse(f"'spans' names {name!r}, which is not one of {', '.join(names)}")
    i = names.index(name)
    if not isinstance(places, list):
        row.place.refuse(f"'spans' must be a list of [start, end], not {places!r:.60}")
    for place in places:
        match place:
            case [int(start), int(end)] if 0 <= start < end <= len(strings[i]):
                yield Mark(i, start, end)
            case _:
                row.place.refuse(f"a span is [start, end] inside the {len(strings[i])} characters, not {place!r:.60}")
