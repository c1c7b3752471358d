"""A long text in a few dozen parts: its sentences, or its phrases where these are too few.

    parts, name = in_parts(text)          Text by its sentences, "sentences"
    mixed, places = opened(parts, text, [3])      the same with the words of part 3 for themselves, and their places
    excerpt(parts, [3], text)             these words alone

A part of more than 40 words is cut into its phrases, and a phrase of more than that into runs of 20 words; more than 40
parts are joined with their neighbours. Every word is in one part, and no part spans two fields.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from assay.text.field import Field
from assay.text.splitting import Span, Unit
from assay.text.text import Text

Group: TypeAlias = list[int]  # the places of the words of a part, one after the other

_FEWEST, _MOST = 12, 40  # parts: enough to put in an order, few enough to be asked for one by one
_LONGEST, _RUN = 40, 20  # words of a part, and of a run in a phrase that is longer


def in_parts(text: Text) -> tuple[Text, str]:
    """The text by its parts, and what they are: sentences, phrases, or parts of several kinds."""
    groups, name = _first_enough(text)
    short = [part for group in groups for part in _shortened(text, group)]
    few = _merged(short, text.where) if len(short) > _MOST else short
    return _grouped(text, few), name if few == groups else "parts"


def opened(parts: Text, text: Text, chosen: Iterable[int]) -> tuple[Text, list[int]]:
    """The parts, of which the chosen ones are taken as words; and the places of these words in that."""
    groups, split = _groups_of(parts, text), set(chosen)
    mixed = [piece for i, group in enumerate(groups) for piece in ([[w] for w in group] if i in split else [group])]
    inside = {word for i in split for word in groups[i]}
    return _grouped(text, mixed), [place for place, piece in enumerate(mixed) if piece[0] in inside]


def excerpt(parts: Text, chosen: Sequence[int], text: Text) -> Text:
    """The words of the chosen parts as a text of their own, dots between parts that are no neighbours."""
    fields = [_excerpt(field, [i for i in chosen if parts.where[i] == field.name], parts) for field in text.explained]
    kept = tuple(field for field in fields if field.spans)
    return Text(kept, tuple(field.name for field in kept))


def sizes(parts: Text, text: Text) -> list[int]:
    """How many words each part has."""
    return list(map(len, _groups_of(parts, text)))


def word_places(parts: Text, text: Text, chosen: Iterable[int]) -> list[int]:
    """Where the words of the chosen parts stand in the text by words."""
    groups = _groups_of(parts, text)
    return sorted(word for i in set(chosen) for word in groups[i])


def _excerpt(field: Field, chosen: Iterable[int], parts: Text) -> Field:
    string, spans, before = "", list[Span](), None
    for i in sorted(chosen):
        start, end = parts.spans[i]
        string += "" if before is None else field.string[parts.spans[before][1] : start] if i == before + 1 else " … "
        shift, before = len(string) - start, i
        string += field.string[start:end]
        spans += [(a + shift, b + shift) for a, b in field.spans if start <= a and b <= end]
    return Field(field.name, string, tuple(spans))


def _first_enough(text: Text) -> tuple[list[Group], str]:
    units: tuple[Unit, ...] = ("sentences", "phrases")
    for unit in units:
        groups = _groups_of(text.by(unit), text)
        if len(groups) >= _FEWEST:
            return groups, unit
    size = max(1, min(_RUN, len(text) // _FEWEST))
    return [run for field in _by_field(range(len(text)), text.where) for run in _runs(field, size)], "parts"


def _shortened(text: Text, group: Group) -> Iterator[Group]:
    if len(group) <= _LONGEST:
        yield group
        return
    first, last = group[0], group[-1]
    for phrase in _groups_of(text.by("phrases"), text):
        inside = [word for word in phrase if first <= word <= last]
        yield from _runs(inside, _RUN) if len(inside) > _LONGEST else [inside] if inside else []


def _merged(groups: Sequence[Group], where: Sequence[str]) -> list[Group]:
    """Neighbours of one field together, as many as bring all of them down to the most there may be."""
    together = -(-len(groups) // _MOST)
    runs = [groups[at : at + together] for at in range(0, len(groups), together)]
    return [field for run in runs for field in _by_field([word for group in run for word in group], where)]


def _by_field(words: Iterable[int], where: Sequence[str]) -> list[Group]:
    found: dict[str, Group] = {}
    for word in words:
        found.setdefault(where[word], []).append(word)
    return list(found.values())


def _runs(words: Sequence[int], size: int) -> list[Group]:
    return [list(words[at : at + size]) for at in range(0, len(words), size)]


def _groups_of(parts: Text, text: Text) -> list[Group]:
    """The words of each part."""
    groups: list[Group] = [[] for _ in parts.words]
    first = {name: parts.where.index(name) for name in set(parts.where)}
    starts = {name: [a for (a, _), at in zip(parts.spans, parts.where, strict=True) if at == name] for name in first}
    for word, ((start, _), name) in enumerate(zip(text.spans, text.where, strict=True)):
        groups[first[name] + bisect_right(starts[name], start) - 1].append(word)
    return groups


def _grouped(text: Text, groups: Sequence[Group]) -> Text:
    """The text in these parts."""
    spans: dict[str, list[Span]] = {}
    for group in groups:
        spans.setdefault(text.where[group[0]], []).append((text.spans[group[0]][0], text.spans[group[-1]][1]))
    fields = (Field(f.name, f.string, tuple(spans.get(f.name, f.spans)), f.part) for f in text.fields)
    return Text(tuple(fields), text.focus)
