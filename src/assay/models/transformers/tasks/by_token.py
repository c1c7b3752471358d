"""A settled continuation, taken apart into its tokens.

    row j explains  log-odds of p(token j | text, tokens before j)

An encoder-decoder reads the text alone, so row j is the text with the number of the token as a note (continued.py). A
causal model reads the text and its own output as one string: the text of row j is the prompt with the tokens before j,
each of them one more word, and the continuation is token j alone. That holds only where the tokenizer makes the same
tokens of this string. Where it does not (the middle of a character, a blank at the end of the prompt), the tokens
since the last place where it does are kept as they are: the row is still exact, but they have no score in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.models.transformers.tasks.continued import Continued
from assay.questions.each_token import TokenTexts
from assay.text.text import Field, Span, Text

Edges = Sequence[tuple[int, str]]  # numbers of tokens, each with the string of the tokens before it


def by_token(task: Continued, text: Text) -> TokenTexts:
    """The texts of the tokens of a settled text."""
    given, continuation = text.fields
    ids = task.token_notes.tokens(continuation.string)
    edges = list(_growing(task.prefixes(given.string, ids)))
    units = list(_units(edges, len(given.string)))
    starts = [max(k for k, (edge, _) in enumerate(edges) if edge <= j) for j in range(len(ids))]
    texts = []
    for j, k in enumerate(starts):
        edge, string = edges[k]
        head = Field(given.name, given.string + string, (*given.spans, *units[:k]), given.part)
        texts.append(Text((head, *task.token_fields(ids[edge:], j - edge)), text.focus))
    held = tuple(j for j, k in enumerate(starts) if edges[k][0] < j) if task.reads_output else ()
    whole = _source(text, units, edges[-1][1] + task.decoded(ids[edges[-1][0] :])) if units else text
    return TokenTexts(whole, tuple(task.decoded([token]) for token in ids), tuple(texts), held)


def _growing(edges: Edges) -> Iterator[tuple[int, str]]:
    """Those of the places between tokens where the string really has become longer."""
    last: str | None = None
    for edge, string in edges:
        if last is None or (string.startswith(last) and len(string) > len(last)):
            yield edge, string
            last = string


def _units(edges: Edges, start: int) -> Iterator[Span]:
    """Where the tokens between two edges stand behind a text of this length, without the blanks around them.

    White space may be a token of its own: alone, or one of several that have no edge between them.
    """
    for (i, before), (j, after) in pairwise(edges):
        new = after[len(before) :]
        word = (new.strip() if j == i + 1 else new.lstrip(" ")) or new
        first = start + len(before) + new.index(word)
        yield first, first + len(word)


def _source(text: Text, units: Sequence[Span], output: str) -> Text:
    """The text and its continuation as two parts of one string, both with their words."""
    given, continuation = text.fields
    n = len(given.string)
    behind = Field(continuation.name, output, tuple((a - n, b - n) for a, b in units), "last")
    return Text((Field(given.name, given.string, given.spans, "first"), behind), (given.name, continuation.name))
