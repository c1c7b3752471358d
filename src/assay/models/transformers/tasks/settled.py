"""Models that answer freely: what is explained is settled first, and stands in the text from then on.

A classifier has labels. A model that tags, fills, goes on or answers with a span is asked about one tag, one word, one
continuation, one answer. The user names it in a second text, or leaves it to the model; `Settle` makes of both a text
in which it is fixed: as a note, which no model reads, or by its place between what stands before and after it. Erasing
words does not move it, so every method works as with a classifier. Where one outcome is explained it is one of two
labels, with the logits

    log(1 - p), log p         so that the log-odds are those of the outcome
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.transformers.handlers.steered import STEERED
from assay.models.transformers.paths import Line
from assay.models.transformers.tasks.classifier import Classifier
from assay.models.transformers.tokens import Pieces
from assay.questions.base import Question
from assay.questions.gradients import GradientRow
from assay.questions.predict import Predict, Settle
from assay.text.text import Field, Row, Span, Text

K = TypeVar("K")
T = TypeVar("T")

_OTHER = "other"
_CERTAIN = -1e-7  # the log-probability of a sure outcome, so that its log-odds stay finite
_MOST = 4096  # rows that are kept


class Settled(Classifier):
    """What is common to them: the user's fields, settling, and rows of settled texts."""

    kind: ClassVar[str]  # what such a model is called in a message
    reads: ClassVar[int] = 1  # how many of the user's fields the model reads
    notes: ClassVar[tuple[str, ...]]  # the fields that may follow and say what is explained
    widths: ClassVar[tuple[int, ...]]  # how many fields a settled text has

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        self.answers = (self.answers | {Settle}) - {*STEERED}
        self._coded: dict[Row, Any] = {}

    def clip(self, text: Text) -> Text:
        seen = super().clip(Text(text.fields[: self.reads], text.focus))
        return Text((*seen.fields, *text.fields[self.reads :]), text.focus)

    def settled(self, text: Text) -> bool:
        """Whether it is said in the text what is explained; one may look inside a model at a text where it is not."""
        return len(text.fields) in self.widths

    def names(self, text: Text) -> tuple[str, ...]:
        """Where one outcome is explained, it goes by what the note says of it, without places and numbers."""
        said = next((self._said(field).strip() for field in reversed(text.fields) if field.part == "note"), "")
        return (_OTHER, said) if self.labels[0] == _OTHER and said not in ("", _OTHER) else self.labels

    def _said(self, note: Field) -> str:
        """A note for people: without places and numbers."""
        return note.string

    def pieces(self, text: Text) -> Pieces:
        return self.encoder.pieces(text.read)

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Predict:
            coded = iter(self._rows([row for row in rows if len(row) in self.widths]))
            return [next(coded) if len(row) in self.widths else self._unsettled() for row in rows]
        if kind is Settle:
            return [tried(self._opened, text) for text in rows]
        return super().encode(kind, rows)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind is not Settle:
            return super().answer(kind, batch)
        with torch.no_grad():
            return self._settle(batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        return [one for output in outputs for one in output] if kind is Settle else super().collect(kind, outputs)

    @abstractmethod
    def _open(self, text: Text, given: dict[str, str]) -> Any:
        """A text ready to be settled, with what the user says is to be explained."""

    @abstractmethod
    def _settle(self, batch: Sequence[Any]) -> list[Text | AssayError]:
        """The texts with what is explained in them."""

    @abstractmethod
    def _rows(self, rows: Sequence[Row]) -> Sequence[Any]:
        """Settled rows as `_logits` takes them, or the errors of those that it cannot take."""

    def _lines(self, rows: Sequence[GradientRow]) -> list[Line | AssayError]:
        """A text that is not settled, or leaves no place for what is explained, gets its error."""
        known = {text: self._placed(text) for text in {row.text for row in rows}}
        refused = {text: error for text, error in known.items() if isinstance(error, AssayError)}
        return [refused.get(row.text, line) for row, line in zip(rows, super()._lines(rows), strict=True)]

    def _placed(self, text: Text) -> Any:
        return self._once(text.strings) if self.settled(text) else self._unsettled()

    def _row(self, line: Line) -> Any:
        return self._once(line.row.text.strings)

    def _once(self, row: Row) -> Any:
        """A row that is asked again and again, as on the way of a gradient."""
        return remembered(self._coded, row, lambda row: self._rows([row])[0])

    def _opened(self, text: Text) -> Any:
        first, *others = (field.name for field in text.fields)
        if len(text.fields) < self.reads:
            raise BadInput(f"a {self.kind} takes a pair: the {self.fields[0]} and the {self.fields[1]}.")
        if text.focus != (first,):
            stay = f"the {others[0]} must stay as it is"
            raise BadInput(f"for a {self.kind} the words of the {first} are explained; {stay}.")
        asked = {field.name: field.string for field in text.fields[self.reads :]}
        if strange := [name for name in asked if name not in self.notes]:
            takes = ", ".join([*self.fields[: self.reads], *self.notes])
            raise BadInput(f"a {self.kind} takes the fields {takes}; there is no {strange[0]!r} among them.")
        return self._open(text, asked)

    def _unsettled(self) -> Unanswerable:
        return Unanswerable(
            f"a {self.kind} cannot answer Predict, or with gradients, before it is settled what is explained: ask "
            "Settle first, or let explain or predict do it."
        )


def remembered(known: dict[K, T], key: K, make: Callable[[K], T]) -> T:
    """What was made of the key before, or is made now; a plain dictionary, so that a model can be sent elsewhere."""
    if key not in known:
        if len(known) >= _MOST:
            known.clear()
        known[key] = make(key)
    return known[key]


def tried(make: Callable[..., T], *args: Any) -> T | AssayError:
    """What is made, or the error that it raised, as the answer of its row alone."""
    try:
        return make(*args)
    except AssayError as error:
        return error


def two_way(chance: Tensor) -> Tensor:
    """Logits of "other" and of the outcome with this log-probability [n, 2]."""
    sure = chance.clamp_max(_CERTAIN)
    return torch.stack([torch.log(-torch.expm1(sure)), sure], dim=1)


def around(field: Field, place: Span, name: str) -> tuple[Field, Field, Field]:
    """The field in three: what stands before a place, the place itself as one word, and what follows."""
    (start, end), string = place, field.string
    return (
        Field("before", string[:start], _within(field, 0, start), "first"),
        Field(name, string[start:end], ((0, end - start),), "middle"),
        Field("after", string[end:], _within(field, end, len(string)), "last"),
    )


def _within(field: Field, start: int, end: int) -> tuple[Span, ...]:
    """The words of the field from start to end, counted from start; a longer unit is cut there."""
    spans = []
    for a, b in field.spans:
        cut = field.string[max(a, start) : min(b, end)] if a < end and start < b else ""
        first = max(a, start) + len(cut) - len(cut.lstrip()) - start
        spans.append((first, first + len(cut.strip())))
    return tuple((a, b) for a, b in spans if a < b)


def find_word(string: str, given: str) -> Span:
    """The word that the user means, by its number ("3" or "3:film", counted from 0) or by itself ("film")."""
    (field,) = Text.of(string).fields
    number, _, said = given.strip().partition(":")
    if not number.isdecimal():
        return field.spans[_only(field.words, given.strip())]
    i = int(number)
    if i >= len(field.words):
        raise BadInput(f"there is no word {i}: the model sees {len(field.words)} words, counted from 0.")
    if said and said != field.words[i]:
        raise BadInput(f"word {i} of the text is {field.words[i]!r}, not {said!r}.")
    return field.spans[i]


def _only(words: Sequence[str], word: str) -> int:
    places = [i for i, one in enumerate(words) if one == word]
    if not places:
        raise BadInput(f"there is no word {word!r} in the text that the model sees.")
    if len(places) > 1:
        which = " or ".join(f"'{i}:{word}'" for i in places[:4])
        raise BadInput(f"the word {word!r} is there {len(places)} times; say which by its number: {which}.")
    return places[0]
