"""Where the words of a string stand: by a rule of Unicode, by white space, as phrases or as sentences.

    splitter_named("words")("don't panic!")      [(0, 5), (6, 11), (11, 12)]

A splitter is any function from a string to spans, in order and without overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from typing import Literal

import regex

from assay.errors import BadInput, UnknownName

Span = tuple[int, int]
Splitter = Callable[[str], Iterable[Span]]
Unit = Literal["words", "phrases", "sentences"]

# Letters and digits with inner apostrophes; a Han or Hiragana character alone; any other visible sign alone
# (a whole grapheme, so that an emoji family or a flag stays one word). Controls and zero-width signs stand in the gaps.
_WORD = regex.compile(
    r"""(?V1)
    [\p{Han}\p{Hiragana}]\p{M}*
  | [[\p{L}\p{N}_]--[\p{Han}\p{Hiragana}]] [[\p{L}\p{N}\p{M}_\u200c\u200d]--[\p{Han}\p{Hiragana}]]*
    (?: ['’] [\p{L}\p{N}] [\p{L}\p{N}\p{M}_]* )*
  | (?! [\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}] ) \X
    """,
    regex.VERBOSE,
)
_CHUNK = regex.compile(r"\S+")
_SENTENCE = regex.compile(r"\S(?:.*?\S)??(?:(?<=[.!?][\"'”’)\]]*)(?=\s)|(?<=[。！？])|(?=\s*\Z))", regex.DOTALL)

# Where a phrase ends: after marks that end a clause in any script (Unicode's Terminal_Punctuation less the marks that
# only part words, and the ellipsis), after a dash with blanks around it, two hyphens or an em dash, after a closing
# bracket and before an opening one, at the end of a line, and at a blank in scripts that part clauses by it and not
# words. ASCII marks with a letter or digit right behind them (3.14, 10:30), or right outside a bracket, end nothing.
_BREAK = regex.compile(
    r"""(?V1)
    (?: (?: [.,:;!?] (?![\p{L}\p{N}_])
          | [[\p{Terminal_Punctuation}\u2026]--[\x00-\x7f\u1361\U0001039f\U000103d0\U0001091f]]
          | \u2014 | -{2,} | (?<=\s) \p{Pd} (?=\s)
          | [)\]\}] (?![\p{L}\p{N}_]) | [\p{Pe}--[)\]\}]] )
        [\p{Pe}\p{Pf}"']* [^\S\n\v\f\r\x85\u2028\u2029]* )+
  | (?<![\p{L}\p{N}_]) (?=[(\[\{]) | (?=[\p{Ps}--[(\[\{]])
  | [\n\v\f\r\x85\u2028\u2029]+
  | (?<=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]) \s+
    (?=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}])
    """,
    regex.VERBOSE,
)


def _by(pattern: regex.Pattern[str]) -> Splitter:
    return lambda string: [match.span() for match in pattern.finditer(string)]


def _phrases(string: str) -> list[Span]:
    """Runs of words between breaks, so that every word is in one phrase and no phrase is empty."""
    return joined([match.span() for match in _WORD.finditer(string)], [m.end() for m in _BREAK.finditer(string)])


def joined(spans: Iterable[Span], edges: Sequence[int]) -> list[Span]:
    """The words between two edges as one span; a word belongs where it begins."""
    runs = (list(run) for _, run in groupby(spans, lambda span: bisect_right(edges, span[0])))
    return [(run[0][0], run[-1][1]) for run in runs]


SPLITTERS: dict[str, Splitter] = {
    "words": _by(_WORD),
    "whitespace": _by(_CHUNK),
    "phrases": _phrases,
    "sentences": _by(_SENTENCE),
}


def splitter_named(name: str) -> Splitter:
    if name not in SPLITTERS:
        raise UnknownName.of("splitter", name, SPLITTERS)
    return SPLITTERS[name]


_OWN = tuple(SPLITTERS.values())


def spans_by(splitter: Splitter, string: str) -> tuple[Span, ...]:
    """The spans that a splitter returns; those of a splitter that is not ours are looked at first."""
    if splitter in _OWN:
        return tuple(splitter(string))
    try:
        spans = tuple((int(start), int(end)) for start, end in splitter(string))
    except (TypeError, ValueError):
        raise BadInput(
            "a splitter takes a string and returns the places of its words, [(start, end), ...]; what it returned for "
            f"{string!r:.40} is no such list."
        ) from None
    edges = [0, *(edge for span in spans for edge in span), len(string)]
    if any(later < earlier for earlier, later in pairwise(edges)):
        raise BadInput("a splitter must return spans in order, without overlap and inside the text.")
    return spans
