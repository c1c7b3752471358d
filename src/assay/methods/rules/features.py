"""Features of texts that formulas are made of, for each field of the text.

    word:man         the word stands in the text (in lower case)
    lemma:run        a form of the word does: without the endings -s, -es, -ies, -ed, -ing
    tag:NOUN         a word does whose commonest part of speech is this one, in a conllu file that the user names
    first:a, last:.  the text begins, or ends, with the word
    overlap>=50%     of the words of the second text, so many stand in the first

In texts of two fields a feature has the name of its field before it: hypothesis.word:man.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern

import numpy as np

from assay.data.files import lines
from assay.errors import BadFile
from assay.methods.rules.formulas import Flags
from assay.text.opening import PathLike
from assay.text.text import Text

_OVERLAPS = (0.25, 0.5, 0.75, 1.0)
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_SHORTEST = 3  # letters that are left of a word without its ending


def lemma(word: str) -> str:
    """The word without its ending, where enough is left: a rough one, without a dictionary."""
    for ending, instead in _ENDINGS:
        stem = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(stem) >= _SHORTEST and not word.endswith("ss"):
            return stem
    return word


def common_tags(path: PathLike) -> dict[str, str]:
    """The commonest part of speech (UPOS) of each word of a conllu file; among equals the first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for place, line in lines(path):
        cells = line.split("\t")
        if line.startswith("#") or not cells[0].isdecimal():
            continue
        if len(cells) != 10:
            place.refuse(f"a word of a conllu file has 10 columns, not {len(cells)}")
        counts[cells[1].lower()][cells[3]] += 1
    if not counts:
        raise BadFile(f"{path} holds no words with parts of speech.")
    return {word: tags.most_common(1)[0][0] for word, tags in counts.items()}


def features_of(text: Text, tags: Mapping[str, str]) -> set[str]:
    """All features of one text."""
    found: set[str] = set()
    fields = [field for field in text.fields if field.spans]
    for field in fields:
        name = f"{field.name}." if len(text.fields) > 1 else ""
        words = [word.lower() for word in field.words]
        found |= {f"{name}{one}" for one in _of_words(words, tags)}
    if len(fields) == 2:
        first, second = ({word.lower() for word in field.words} for field in fields)
        share = len(first & second) / len(second)
        found |= {f"overlap>={least:.0%}" for least in _OVERLAPS if share >= least}
    return found


def _of_words(words: Sequence[str], tags: Mapping[str, str]) -> Iterator[str]:
    for word in words:
        yield f"word:{word}"
        if (stem := lemma(word)) != word:
            yield f"lemma:{stem}"
        if word in tags:
            yield f"tag:{tags[word]}"
    yield from (f"first:{words[0]}", f"last:{words[-1]}")


def feature_table(texts: Iterable[set[str]], least: int, most: int) -> tuple[tuple[str, ...], Flags]:
    """The names and where each holds [features, texts]: the commonest, of those that hold in `least` texts or more.

    Of features that hold in the very same texts only the first is kept (in the order of their names, words first).
    """
    rows = [tuple(map(intern, row)) for row in texts]  # one string for all texts that have the feature
    counts = Counter(name for row in rows for name in row)
    order = sorted((name for name in counts if counts[name] >= least), key=lambda name: (-counts[name], _rank(name)))
    names = order[:most]
    place = {name: i for i, name in enumerate(names)}
    flags = np.zeros((len(names), len(rows)), dtype=np.bool_)
    for j, row in enumerate(rows):
        flags[[place[name] for name in row if name in place], j] = True
    seen: dict[bytes, int] = {}
    for i in sorted(range(len(names)), key=lambda i: _rank(names[i])):
        seen.setdefault(np.packbits(flags[i]).tobytes(), i)
    kept = sorted(seen.values())
    return tuple(names[i] for i in kept), flags[kept]


def _rank(name: str) -> tuple[int, str]:
    kinds = ("word:", "lemma:", "tag:", "first:", "last:")
    return next((i for i, kind in enumerate(kinds) if kind in name), len(kinds)), name
