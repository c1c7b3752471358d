"""Candidates of Polyjuice: a text changed in ways that control codes name, written by an editor or made by a rule.

    It is great for kids                         the editor reads the text, a code, and the text with blanks (one of two
    negation: It is [BLANK] great for [BLANK]    grammars, see text/coded_blanks.py), and writes the fills
    fills: not | children

For each code up to `variants` ways to put blanks are drawn, and `samples` fills are written for each. What is deleted
or shuffled needs no editor. In a text of more than `window` words each variant changes one piece of it, and only that
piece is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import AssayError
from assay.explanations.edits import Edit
from assay.explanations.rewritten import Rewritten
from assay.methods.counterfactuals.written_fills import pieces
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.generation import Generate, Generated, Sampling
from assay.questions.tags import tags_of
from assay.text.blank_places import FILLED, drawn_blanks, removals, swaps
from assay.text.coded_blanks import (
    Blank,
    Grammar,
    coded_prompt,
    one_line,
    read_coded_fills,
    with_coded_blanks,
    with_fills,
)
from assay.text.control_codes import changed_places, detected_code
from assay.text.text import Text

_MOST_TOKENS = 8  # for a blank, and for each word that it hides
_CONTEXT = 20  # words that the tagger reads on either side
_DRAWN = 4  # times as often as there are variants: some draws are equal
_BY_TAGS = frozenset({"lexical", "resemantic", "restructure"})  # the codes that parts of speech decide


@dataclass(frozen=True)
class Coded(Rewritten):
    """A text that was changed as a control code says."""

    code: str = ""

    def edit(self, flips: bool) -> Edit:
        return replace(super().edit(flips), code=self.code)


@dataclass(frozen=True)
class AskedEdit:
    """A piece of the text with blanks, and the kind of edit that is wanted."""

    code: str
    start: int  # where the piece stands in the string
    piece: Text
    blanks: tuple[Blank, ...]


@dataclass(frozen=True)
class CodedCandidates:
    """What was written or made, each string once; how many fills were written, and how many could not be read."""

    found: tuple[Coded, ...]
    written: int
    malformed: int


@dataclass(frozen=True)
class CodedEditor:
    """How an editor is asked for a kind of edit."""

    model: str
    grammar: Grammar
    samples: int
    variants: int
    sampling: Sampling
    window: int
    seed: int

    def candidates(self, text: Text, codes: Sequence[str], rng: np.random.Generator) -> Conversation[CodedCandidates]:
        """Versions of the one field that is in focus."""
        (field,) = text.explained
        requests = [request for code in codes if code in FILLED for request in self._requests(text, code, rng)]
        answers: list[list[list[str] | None]] = yield Each(self._fills(request) for request in requests)
        strings = [
            (request.code, _placed(field.string, request, fills))
            for request, read in zip(requests, answers, strict=True)
            for fills in read
            if fills is not None
        ]
        for code in codes:
            if code not in FILLED:
                strings += ((code, string) for string in self._by_rule(text, code, rng))
        found = {(code, string): Coded(text, string, code=code) for code, string in strings if string != field.string}
        fills = [one for read in answers for one in read]
        readable = tuple(one for one in found.values() if Text.of(one.string).words)
        return CodedCandidates(readable, len(fills), sum(one is None for one in fills))

    def _requests(self, text: Text, code: str, rng: np.random.Generator) -> Iterator[AskedEdit]:
        """As many different ones as there shall be, or as are found."""
        found = dict[tuple[int, tuple[Blank, ...]], AskedEdit]()
        for _ in range(_DRAWN * self.variants):
            start, piece = self._piece(text, rng)
            if blanks := drawn_blanks(piece.words, code, rng):
                found.setdefault((start, blanks), AskedEdit(code, start, piece, blanks))
            if len(found) == self.variants:
                break
        yield from found.values()

    def _fills(self, request: AskedEdit) -> Conversation[list[list[str] | None]]:
        """What was written for a request, read; each answer once, unreadable ones as they come."""
        (field,) = request.piece.explained
        shown = with_coded_blanks(request.piece, request.blanks)
        hidden = sum(blank.end - blank.start for blank in request.blanks)
        written: list[Generated] = yield Generate(
            coded_prompt(field.string, request.code, shown, self.grammar),
            n=self.samples,
            seed=self.seed,
            stop=("\n",),
            max_tokens=_MOST_TOKENS * (len(request.blanks) + hidden),
            sampling=self.sampling,
            model=self.model,
        )
        many = len(request.blanks)
        return [None if one.ended == "length" else read_coded_fills(one.text, many, self.grammar) for one in written]

    def _by_rule(self, text: Text, code: str, rng: np.random.Generator) -> Iterator[str]:
        """Versions with something left out, or with two things in each other's place."""
        (field,) = text.explained
        start, piece = self._piece(text, rng)
        ways = [((one,), [""]) for one in removals(piece.words)] if code == "delete" else list(_swapped(piece))
        for i in rng.permutation(len(ways))[: self.variants * self.samples]:
            blanks, fills = ways[i]
            yield _placed(field.string, AskedEdit(code, start, piece, tuple(blanks)), fills)

    def _piece(self, text: Text, rng: np.random.Generator) -> tuple[int, Text]:
        """A piece of the text, a longer one more often, and where it begins."""
        (field,) = text.explained
        cut = pieces(text.words, self.window)
        sizes = np.array([b - a for a, b in cut])
        a, b = cut[int(rng.choice(len(cut), p=sizes / sizes.sum()))]
        start, end = text.spans[a][0], text.spans[b - 1][1]
        if len(cut) == 1:
            start, end = 0, len(field.string)
        return start, Text.of(field.string[start:end])


def with_requested_codes(versions: Iterable[Coded], string: str, tagger: str | None) -> Conversation[list[Coded]]:
    """Those of which the code that was asked for is found again; parts of speech are asked where they decide."""
    old, kept, open_ = Text.of(string).words, list[Coded](), list[Coded]()
    for version in versions:
        code = detected_code(old, Text.of(version.string).words)
        asks = tagger is not None and code in _BY_TAGS and version.code in _BY_TAGS
        (open_ if asks else kept if code == version.code else []).append(version)
    if not open_:
        return kept
    places = [changed_places(old, Text.of(version.string).words) for version in open_]
    old_tags = yield Each((_tags(string, gone, tagger) for gone, _ in places), keep_errors=True)
    new_tags = yield Each(
        (_tags(version.string, come, tagger) for version, (_, come) in zip(open_, places, strict=True)),
        keep_errors=True,
    )
    for version, *tags in zip(open_, old_tags, new_tags, strict=True):
        known = ({} if isinstance(one, AssayError) else one for one in tags)  # a word may stand beyond its window
        if detected_code(old, Text.of(version.string).words, *known) == version.code:
            kept.append(version)
    return kept


def _tags(string: str, places: Sequence[int], tagger: str | None) -> Conversation[dict[int, str]]:
    """The parts of speech of some words, read with the words around them."""
    if not places:
        return {}
    spans = Text.of(string).spans
    first, last = max(0, places[0] - _CONTEXT), min(len(spans), places[-1] + 1 + _CONTEXT)
    part = string[spans[first][0] : spans[last - 1][1]]
    tags = yield from tags_of(part, (i - first for i in places), tagger)
    return {i + first: tag for i, tag in tags.items()}


def _placed(string: str, request: AskedEdit, fills: Sequence[str]) -> str:
    """The whole string with a piece that was changed."""
    (field,) = request.piece.explained
    new = with_fills(request.piece, request.blanks, [one_line(fill) for fill in fills])
    return string[: request.start] + new + string[request.start + len(field.string) :]


def _swapped(piece: Text) -> Iterator[tuple[tuple[Blank, ...], list[str]]]:
    (field,) = piece.explained
    for pair in swaps(piece.words):
        one, two = (field.string[piece.spans[b.start][0] : piece.spans[b.end - 1][1]] for b in pair)
        yield pair, [two, one]
