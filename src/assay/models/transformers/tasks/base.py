"""A task: what goes into a model, and what its logits mean.

A classifier has labels. A model that tags, fills, goes on or answers with a span is asked about one tag, one word, one
continuation, one answer: what is explained is settled first. The user names it in a second text, or leaves it to the
model; `Settle` makes of both a text in which it is fixed: as a note, which no model reads, or by its place between what
stands before and after it. Erasing words does not move it, so every method works as with a classifier. Where one
outcome is explained it is one of two labels, with the logits

    log(1 - p), log p         so that the log-odds are those of the outcome
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import Tensor, nn

from assay.errors import AssayError, BadInput, ModelNotLoaded, Unanswerable
from assay.models.label_names import LabelNames, distinct
from assay.models.transformers.network import Network
from assay.models.transformers.tokens import Pieces
from assay.text.text import Field, Row, Text

K = TypeVar("K")
T = TypeVar("T")

OTHER = "other"
_CERTAIN = -1e-7  # the log-probability of a sure outcome, so that its log-odds stay finite
_MOST = 4096  # rows that are kept
_ONE_OUTPUT = (  # transformers itself takes such a model for a regression when it trains it
    "the model has one output and does not say what it means (problem_type): it is read as the log-odds of its label; "
    "if it is a regression, the probabilities here mean nothing"
)


class Task(ABC):
    """What handlers need to know of a task; a new task is one file with one such class."""

    kind: ClassVar[str]  # what such a model is called in a message
    reads: ClassVar[int] = 1  # how many of the user's fields the model reads
    free: ClassVar[int] = 1  # how many of these may be explained; the others must stay as they are
    notes: ClassVar[tuple[str, ...]] = ()  # the fields that may follow and say what is explained
    widths: ClassVar[tuple[int, ...]] = ()  # how many fields a settled text has; none where there is nothing to settle
    optional: ClassVar[int] = 0  # how many of the last fields one may leave out
    plain: ClassVar[bool] = False  # whether logits are one forward pass that puts no hook on the model
    opens: ClassVar[bool] = True  # whether the pieces of the text are those of the model's layers, and no others
    no_reader: ClassVar[str | None] = None  # why there is no piece of the text whose state becomes the answer
    shares_rows: ClassVar[bool] = True  # whether several points of a line may go as one row
    probed: ClassVar[bool] = True  # whether rows of ids alone are all that such a model can be tried with
    speaker: Any = None  # the task by which it goes on with texts, where it can
    question: str = ""  # what it is asked about a text, where it is a language model that chooses among labels
    max_new_tokens: int = 8  # of a continuation by the model itself, where it goes on with a text

    def __init__(self, network: Network, fields: Sequence[str] = ("text",)) -> None:
        self.network, self.fields = network, tuple(fields)
        config = network.model.config
        problem = getattr(config, "problem_type", None)
        if problem == "regression":
            raise ModelNotLoaded(
                f"{network.name} is a regression model; Assay explains models that choose among labels."
            )
        self.labels, self.warnings = _label_names(config)
        self.multi_label = problem == "multi_label_classification" and config.num_labels > 1
        self.one_logit = config.num_labels == 1
        self.nothing: str | None = None  # the token for which a text without words is read, if it has no other
        self.focus: tuple[str, ...] | None = None
        self.target: int | None = None
        self._known: dict[Row, Any] = {}

    def _answers_with(self, outcome: str) -> None:
        """One outcome is explained, whatever labels the configuration names."""
        self.labels, self.target, self.warnings = (OTHER, outcome), 1, ()
        self.multi_label = self.one_logit = False

    def on(self, network: Network) -> Self:
        """The same task of another network."""
        return type(self)(network, self.fields)

    def fingerprint(self, of_network: str) -> str:
        """Changes whenever answers may change, given the fingerprint of the network."""
        return of_network

    # What goes in

    @abstractmethod
    def rows(self, rows: Sequence[Row]) -> Sequence[Any]:
        """Settled rows of strings as `logits` takes them, or the errors of those that it cannot take."""

    def lengths(self, rows: Sequence[Any]) -> list[int]:
        """How many tokens each row as `logits` takes it has."""
        return [len(row[0]) for row in rows]

    def vocabulary_places(self, rows: Iterable[Any]) -> list[int] | None:
        """At how many places of each row as `logits` takes it it reads logits over a whole vocabulary, if it does."""
        return None

    @property
    def places_to_settle(self) -> int:
        """At how many places of a row there are logits over a vocabulary at once while its own answer is looked for."""
        return 1

    def beside(self, text: Text) -> int:
        """How many tokens the model reads beside the pieces of the text."""
        return 0

    def clip(self, text: Text) -> Text:
        """The part of a text that the model can see."""
        if not self.widths:
            return self.network.encoder.clip(text)
        seen = self.network.encoder.clip(Text(text.fields[: self.reads], text.focus))
        return Text((*seen.fields, *text.fields[self.reads :]), text.focus)

    def pieces(self, text: Text) -> Pieces:
        """The text as the model sees it."""
        return self.network.encoder.pieces(text.read if self.widths else text)

    def reader(self, text: Text) -> int | None:
        """The piece whose state becomes the answer, where the text says it; of labels the model is asked itself."""
        return None

    def row(self, text: Text, pieces: Pieces) -> Any:
        """One text as `logits` takes it; it is asked for again and again, as along the line of a gradient."""
        return self.once(text.strings)

    def once(self, row: Row) -> Any:
        """One row of strings as `logits` takes it, remembered."""
        return remembered(self._known, row, lambda row: self.rows([row])[0])

    @property
    def embedding(self) -> Any:
        """The layer that embeds the pieces of a text."""
        return self.network.model.get_input_embeddings()

    @property
    def body(self) -> Any:
        """The module whose hidden states are those of the text."""
        return self.network.model

    @property
    def differentiable(self) -> bool:
        """Whether there is a layer that its words come in by."""
        return self.network.encoder.has_offsets and isinstance(self.embedding, nn.Module)

    @property
    def bears_padding(self) -> bool:
        """Whether outputs of several lengths go together, padded; asked only where there are outputs."""
        return True

    # What comes out

    @abstractmethod
    def logits(self, batch: Sequence[Any]) -> Tensor:
        """The model's answers [rows, labels]."""

    def said(self, model: Any, inputs: dict[str, Tensor]) -> Tensor:
        """All that a model of this kind says of rows, [rows, labels] or [rows, pieces, ...]; it is tried by this."""
        logits: Tensor = model(**inputs).logits
        return logits

    def names(self, text: Text) -> tuple[str, ...]:
        """What the labels are called for this text; one outcome goes by what its note says of it."""
        if self.labels[0] != OTHER or not self.widths:
            return self.labels
        shown = next((self.shown(field).strip() for field in reversed(text.fields) if field.part == "note"), "")
        return (OTHER, shown) if shown not in ("", OTHER) else self.labels

    def shown(self, note: Field) -> str:
        """A note for people: without places and numbers."""
        return note.string

    # What is explained, where it must be settled first

    def facts(self) -> Iterator[str]:
        """What a user should know of how texts go in, in sentences."""
        tokenizer, seen = self.network.tokenizer, self.network.encoder.window
        if seen < 10**6:
            side = getattr(tokenizer, "truncation_side", "right")
            yield f"It sees {seen} pieces, special tokens included; a longer text is cut on the {side}."

    def settled(self, text: Text) -> bool:
        """Whether the text says what is explained; one may look inside a model at a text that does not."""
        return len(text.fields) in self.widths

    def refusal(self, text: Text) -> AssayError | None:
        """The error of a text that is not settled, or leaves no place for what is explained."""
        if not self.widths:
            return None
        row = self.once(text.strings) if self.settled(text) else self.unsettled()
        return row if isinstance(row, AssayError) else None

    def opened(self, text: Text) -> Any:
        """A text ready to be settled; its fields are checked here."""
        first, *others = (field.name for field in text.fields)
        if len(text.fields) < self.reads:
            raise BadInput(f"a {self.kind} takes a pair: the {self.fields[0]} and the {self.fields[1]}.")
        if not set(text.focus) <= {field.name for field in text.fields[: self.free]}:
            stay = f"the {others[0]} must stay as it is"
            raise BadInput(f"for a {self.kind} the words of the {first} are explained; {stay}.")
        asked = {field.name: field.string for field in text.fields[self.reads :]}
        if strange := [name for name in asked if name not in self.notes]:
            takes = ", ".join([*self.fields[: self.reads], *self.notes])
            raise BadInput(f"a {self.kind} takes the fields {takes}; there is no {strange[0]!r} among them.")
        return self.open(text, asked)

    def open(self, text: Text, given: dict[str, str]) -> Any:
        """A text ready to be settled, with what the user says is to be explained."""
        raise NotImplementedError

    def settle(self, batch: Sequence[Any]) -> list[Text | AssayError]:
        """Opened texts with what is explained in them."""
        raise NotImplementedError

    def unsettled(self) -> Unanswerable:
        return Unanswerable(
            f"a {self.kind} cannot answer Predict, or with gradients, before it is settled what is explained: ask "
            "Settle first, or let explain or predict do it."
        )


def _label_names(config: Any) -> LabelNames:
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    if len(names) > 1:
        return distinct(names)
    found = distinct([f"not {names[0]}", names[0]])
    return found if getattr(config, "problem_type", None) else found._replace(warnings=(_ONE_OUTPUT,))


def remembered(known: dict[K, T], key: K, make: Callable[[K], T]) -> T:
    """What was made of the key before, or is made now; a plain dictionary, so that a model can be pickled."""
    if key in known:
        return known[key]
    if len(known) >= _MOST:
        known.clear()
    known[key] = made = make(key)
    return made


def result_or_error(make: Callable[..., T], *args: Any) -> T | AssayError:
    """What is made, or the error that it raised, as the answer of its row alone."""
    try:
        return make(*args)
    except AssayError as error:
        return error


def at_least_two(logits: Tensor) -> Tensor:
    """One single logit becomes two labels, as in a pipeline [..., labels]."""
    return torch.cat([-logits, logits], dim=-1) / 2 if logits.shape[-1] == 1 else logits


def two_way(log_probability: Tensor) -> Tensor:
    """Logits of "other" and of the outcome with this log-probability [n, 2]."""
    sure = log_probability.clamp_max(_CERTAIN)
    return torch.stack([torch.log(-torch.expm1(sure)), sure], dim=1)
