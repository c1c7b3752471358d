"""Where a sentence may be changed for an edit of a kind: blanks that an editor fills, and what goes or is swapped.

    word .4      phrase .35      between two words .25          the kinds of blanks, as published for Polyjuice

Wu, Ribeiro, Heer and Weld (2021), arXiv:2101.00288. Where they take subtrees of a parse, phrases are runs of words
between words of grammar (chunks). Of the kinds those are drawn that can lead to the edit: a "lexical" one changes a
word, an "insert" puts words between others. A negation is sought beside auxiliaries and negations, a quantifier at
numbers, quantifiers and articles, where the sentence has some; all other edits anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np

from assay.text.chunks import chunks
from assay.text.coded_blanks import Blank, apart
from assay.text.control_codes import AUXILIARIES, NEGATIONS, is_quantifier
from assay.text.plain_words import plain_words
from assay.text.stop_words import STOP_WORDS

KINDS: Mapping[str, float] = MappingProxyType({"word": 0.4, "phrase": 0.35, "between": 0.25})
FILLED: Mapping[str, tuple[str, ...]] = MappingProxyType(  # the codes that need an editor
    {
        "negation": ("word", "phrase", "between"),
        "quantifier": ("word", "phrase", "between"),
        "lexical": ("word",),
        "resemantic": ("word", "phrase"),
        "insert": ("between",),
        "restructure": ("phrase",),
    }
)
_SECOND = 0.3  # of the variants have a second blank
_ARTICLES = frozenset({"a", "an", "the"})
_MOST_PHRASES = 3  # that a sentence is built anew over


def drawn_blanks(words: Sequence[str], code: str, rng: np.random.Generator) -> tuple[Blank, ...]:
    """One or two blanks for an edit of this kind; none where the sentence has no place for it."""
    sites = _sites(words, code)
    if not sites:
        return ()
    many = 2 if len(sites) > 1 and rng.random() < _SECOND else 1
    return tuple(apart(sorted(_drawn(words, int(rng.choice(sites)), code, rng) for _ in range(many))))


def removals(words: Sequence[str]) -> list[Blank]:
    """What may be left out: a phrase, or a word that is none of grammar; never all words."""
    runs = [Blank(run.start, run.stop) for run in chunks(words) if any(_is_word(words[i]) for i in run)]
    single = [Blank(i, i + 1) for i, word in enumerate(words) if _is_content(word)]
    every = sum(map(_is_word, words))
    return [b for b in dict.fromkeys([*runs, *single]) if sum(map(_is_word, words[b.start : b.end])) < every]


def swaps(words: Sequence[str]) -> list[tuple[Blank, Blank]]:
    """What may change places: two words that are none of grammar, or two phrases of which none is a sign."""
    single = [Blank(i, i + 1) for i, word in enumerate(words) if _is_content(word)]
    runs = [Blank(run.start, run.stop) for run in chunks(words) if all(_is_word(words[i]) for i in run)]
    pairs = [*combinations(single, 2), *combinations(runs, 2)]
    return [(a, b) for a, b in dict.fromkeys(pairs) if _plain(words, a) != _plain(words, b)]


def _drawn(words: Sequence[str], site: int, code: str, rng: np.random.Generator) -> Blank:
    kinds = FILLED[code]
    chances = np.array([KINDS[kind] for kind in kinds])
    kind = kinds[int(rng.choice(len(kinds), p=chances / chances.sum()))]
    runs = chunks(words)
    at = next(i for i, run in enumerate(runs) if site in run)
    if kind == "between":
        place = site + (code == "negation" and words[site].lower() in AUXILIARIES)
        return Blank(place, place)
    if kind == "phrase":
        last = at + int(rng.integers(_MOST_PHRASES)) if code == "restructure" else at
        return Blank(runs[at].start, runs[min(last, len(runs) - 1)].stop)
    agrees = code == "quantifier" and rng.random() < 0.5  # what is counted changes with the number
    return Blank(site, runs[at].stop if agrees else site + 1)


def _sites(words: Sequence[str], code: str) -> list[int]:
    """The words at which an edit of this kind may be made."""
    every = [i for i, word in enumerate(words) if _is_word(word)]
    if code == "lexical":
        return [i for i in every if _is_content(words[i])]
    known = {plain.place for plain in plain_words(words) if _is_apt(plain.word, code)}
    return sorted(known) or every


def _is_apt(word: str, code: str) -> bool:
    if code == "negation":
        return word in AUXILIARIES or word in NEGATIONS
    return code == "quantifier" and (is_quantifier(word) or word in _ARTICLES)


def _plain(words: Sequence[str], blank: Blank) -> list[str]:
    return [word for word, _ in plain_words(words[blank.start : blank.end])]


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


def _is_content(word: str) -> bool:
    return _is_word(word) and word.lower() not in STOP_WORDS
