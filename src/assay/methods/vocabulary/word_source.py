"""Which words, and where their vectors come from: the input embedding, a file, or their contexts in a sample.

vectors=none               rows of the model's input embedding; a word of several pieces is the mean of their rows
vectors=glove | FILE       static vectors, which have nothing to do with the model
layer=K                    hidden states of layer K, the mean over all places of the word in the sample

words=a,b,c | FILE         these words, or those of a file; words=vocabulary the most frequent of the vocabulary
words=none                 the most frequent words of the sample; without a sample a list of occupations
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from assay.data.word_lists import words_of
from assay.data.word_vectors import word_vectors
from assay.errors import BadInput
from assay.questions.base import Conversation, Question
from assay.questions.each import Each
from assay.questions.embeddings import Embeddings, WordVectors
from assay.questions.inside import Hidden
from assay.statistics.arrays import Floats
from assay.text.sample import Sample
from assay.text.text import Text, TextLike

VOCABULARY = "vocabulary"
OCCUPATIONS = (
    "nurse doctor surgeon dentist midwife pharmacist paramedic teacher professor librarian tutor nanny engineer "
    "programmer scientist mathematician physicist chemist biologist architect carpenter plumber electrician mechanic "
    "farmer fisherman hunter butcher baker cook chef waiter waitress bartender hairdresser maid cleaner janitor "
    "secretary receptionist accountant banker broker economist manager boss lawyer judge sheriff soldier captain "
    "pilot driver sailor guard detective politician senator minister priest nun dancer singer actor actress painter "
    "writer poet journalist photographer model athlete coach"
).split()


@dataclass(frozen=True)
class FoundWords:
    """Words with their vectors [words, size], facts about them, and what could not be found."""

    words: tuple[str, ...]
    vectors: Floats
    facts: dict[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def rows(self, words: Iterable[str]) -> Floats:
        place = {word: i for i, word in enumerate(self.words)}
        return self.vectors[[place[word] for word in words]]


@dataclass(frozen=True)
class WordSource:
    """What a method was told about words and vectors."""

    words: tuple[str, ...] | None
    vectors: str | None
    layer: int | None
    most: int

    @property
    def needs(self) -> tuple[type[Question], ...]:
        if self.vectors is not None:
            return ()
        return (Embeddings,) if self.layer is None else (Hidden,)

    def wanted(self, sample: Sample, besides: Iterable[str] = ()) -> list[str] | None:
        """The words, and those that are needed besides; None for the most frequent of the vocabulary."""
        if self.words == (VOCABULARY,):
            return None
        if self.words is None:
            found: Iterable[str] = _frequent(sample, self.most) if sample else OCCUPATIONS
        else:
            found = words_of(self.words[0]) if len(self.words) == 1 and Path(self.words[0]).is_file() else self.words
        return list(dict.fromkeys([*(word.strip() for word in found if word.strip()), *besides]))

    def find(self, sample: Sample, besides: Iterable[str] = ()) -> Conversation[FoundWords]:
        """The words that have a vector; those besides are always looked for too."""
        if self.layer is not None and self.vectors is not None:
            raise BadInput("give vectors of a file, or a layer of the model; not both.")
        if self.layer is not None and not sample:
            raise BadInput("a layer's vectors of a word are those of its places in texts; give a sample (--file F).")
        besides = list(besides)
        wanted = self.wanted(sample, besides)
        if self.vectors is not None:
            found = _static(self.vectors, wanted, besides, self.most)
        elif self.layer is not None:
            found = yield from _contextual(sample, wanted, besides, self.layer, self.most)
        else:
            found = yield from _embedded(wanted, besides, self.most)
        return _enough(found, wanted)


class AboutWords:
    """A method about words and their vectors; these four of its parameters say which."""

    words: tuple[str, ...] | None
    vectors: str | None
    layer: int | None
    most: int

    @property
    def needs(self) -> tuple[type[Question], ...]:
        return self._source.needs

    @property
    def otherwise(self) -> str:
        return "With vectors=glove, or vectors=FILE, the model is not asked."

    @property
    def _source(self) -> WordSource:
        return WordSource(self.words, self.vectors, self.layer, self.most)


def _enough(found: FoundWords, wanted: list[str] | None) -> FoundWords:
    missing = [] if wanted is None else [word for word in wanted if word not in set(found.words)]
    if len(found.words) < 3:
        raise BadInput(f"a description of words needs at least 3 that have a vector; there are {len(found.words)}.")
    if not missing:
        return found
    some = ", ".join(f"“{word}”" for word in missing[:5])
    warning = f"{len(missing)} of {len(wanted or ())} words have no vector and are left out, such as {some}"
    return FoundWords(found.words, found.vectors, found.facts, (*found.warnings, warning))


def _static(source: str, wanted: list[str] | None, besides: list[str], most: int) -> FoundWords:
    """Vectors of a file; a word that stands there only in lower case is found too."""
    if wanted is None:
        first = dict(islice(word_vectors(source), most))
        more = _static(source, besides, [], most) if set(besides) - first.keys() else None
        first |= dict(zip(more.words, more.vectors, strict=True)) if more else {}
        return FoundWords(tuple(first), np.array(list(first.values())), {"vectors": source})
    spelled = {form: None for word in wanted for form in (word, word.lower())}
    there = dict(word_vectors(source, spelled))
    found = {word: there.get(word, there.get(word.lower())) for word in wanted}
    kept = {word: vector for word, vector in found.items() if vector is not None}
    return FoundWords(tuple(kept), np.array(list(kept.values())), {"vectors": source})


def _embedded(wanted: list[str] | None, besides: list[str], most: int) -> Conversation[FoundWords]:
    if wanted is None:
        whole: WordVectors = yield Embeddings()
        chosen = [i for i, word in enumerate(whole.words) if word.isalpha() and len(word) > 1][:most]
        names = tuple(whole.words[i] for i in chosen)
        more = [word for word in besides if word not in set(names)]
        found = FoundWords(names, whole.vectors[chosen])
        if not more:
            return found
        other = yield from _embedded(more, [], most)
        return FoundWords(names + other.words, np.concatenate([found.vectors, other.vectors]), other.facts)
    rows: WordVectors = yield Embeddings(wanted)
    known = np.flatnonzero(rows.known)
    several = sum(rows.pieces[i] > 1 for i in known)
    facts: dict[str, object] = {"words_of_several_pieces": several} if several else {}
    return FoundWords(tuple(rows.words[i] for i in known), rows.vectors[known], facts)


@dataclass
class _Means:
    """Sums over the places of each word; no more than one vector a word is kept."""

    sums: dict[str, Floats] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, one: tuple[list[str], Floats]) -> _Means:
        for word, vector in zip(*one, strict=True):
            if vector.any():  # of a word beyond the window the model has read nothing
                self.sums[word] = self.sums[word] + vector if word in self.sums else vector.astype(np.float64)
                self.counts[word] += 1
        return self


def _contextual(
    sample: Sample, wanted: list[str] | None, besides: list[str], layer: int, most: int
) -> Conversation[FoundWords]:
    spelled = None if wanted is None else {word.lower(): word for word in wanted}

    def states(text: TextLike) -> Conversation[tuple[list[str], Floats]]:
        read = Text.of(text)
        keys = [word.lower() for word in read.words]
        places = [i for i, key in enumerate(keys) if (key.isalpha() if spelled is None else key in spelled)]
        if not places:
            return [], np.zeros((0, 1))
        found = yield Hidden(read, layers=[layer], pool="words", places=places)
        return [keys[i] for i in places], found[0]

    means: _Means = yield Each(map(states, sample.texts), fold=_Means.add, start=_Means())
    order = [word for word, _ in means.counts.most_common()]
    kept = order[:most] if spelled is None else order
    kept += [word for word in order if word in besides and word not in kept]
    names = tuple(kept if spelled is None else (spelled[word] for word in kept))
    vectors = np.array([means.sums[word] / means.counts[word] for word in kept])
    return FoundWords(names, vectors, {"layer": layer, "places": sum(means.counts[word] for word in kept)})


def _frequent(sample: Sample, most: int) -> list[str]:
    counts: Counter[str] = Counter()
    for text in sample.texts:
        counts.update(word.lower() for word in Text.of(text).words if word.isalpha())
    return [word for word, _ in counts.most_common(most)]
