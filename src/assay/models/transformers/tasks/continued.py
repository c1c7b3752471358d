"""Models that go on with a text: the probability of one continuation, as a whole or of one of its tokens.

    p(continuation | text) = product over j of p(token_j | text, tokens before j)

The user gives a pair, the text and its continuation; without the second the model's own is explained, the likeliest
token after the other until it ends or there are `max_new_tokens` (8, an attribute of the model). The words of the text
are explained, the continuation's tokens are fixed. A third field asks for one token alone, by its number:

    {"prompt": "The film was", "continuation": " slow but good", "token": "2"}        p(token 2 | tokens 0, 1)

The end of the text is no part of a continuation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

from torch import Tensor

from assay.errors import AssayError, BadInput
from assay.models.transformers.chat import chat_tokens
from assay.models.transformers.network import Network, window
from assay.models.transformers.tasks.base import Task, result_or_error
from assay.models.transformers.tasks.projection import Index, Wanted, outcome_logits, places_of, projected
from assay.models.transformers.tasks.token_notes import TokenNotes, without_numbers
from assay.questions.generation import Prompt
from assay.text.text import Field, Row, Text


class OpenedText(NamedTuple):
    """A text whose continuation is wanted, or given by the user."""

    ids: list[int]
    room: int
    text: Text
    given: tuple[int, ...] | None
    strings: tuple[str, ...]
    token: str | None


class Learned(NamedTuple):
    """A training text, cut to the window; the tokens that are wanted are those whose loss is taken."""

    wanted: Wanted
    beyond: int  # tokens that were cut


class Continued(Task):
    """Answers with the logits of "other" and "continuation"."""

    notes = ("continuation", "token")
    widths: ClassVar[tuple[int, ...]] = (2, 3)
    optional = 1
    reads_output: ClassVar[bool] = False  # whether its output is read as one text with what it was given

    def __init__(self, network: Network, fields: Sequence[str]) -> None:
        super().__init__(network, (fields[0], self.notes[0]))
        self.focus = self.fields[:1]
        self._answers_with(self.notes[0])
        self.speaker = self
        self.window = window(network.model, network.tokenizer)
        self.token_notes = TokenNotes(network, self._pieces_of)
        self._singles: dict[int, str] = {}  # what is asked for most: the strings of single tokens

    @abstractmethod
    def _heads(self, strings: Sequence[str]) -> Sequence[list[int] | AssayError]:
        """The tokens of texts, ready to be gone on with."""

    @abstractmethod
    def _room(self, head: Sequence[int]) -> int:
        """How many tokens may follow."""

    @abstractmethod
    def _wanted(self, head: list[int], ids: Sequence[int], first: int, last: int) -> Wanted:
        """What is asked to learn the probabilities of the tokens from first to before last."""

    def _pieces_of(self, string: str) -> Sequence[int]:
        """The tokens of a continuation."""
        return self.network.encoder.following(string)

    def shown(self, note: Field) -> str:
        return note.string.partition(":")[2] if note.name == "token" else without_numbers(note.string)

    def spaced(self, text: str, continuation: str) -> str:
        """The continuation as it goes on where the text ends."""
        return continuation

    def open(self, text: Text, given: dict[str, str]) -> OpenedText:
        string = text.strings[0]
        head = self._heads([string])[0]
        if isinstance(head, AssayError):
            raise head
        room, token = self._room(head), given.get("token")
        if room < 1:
            raise BadInput(f"the {self.fields[0]} fills the {self.kind}'s window of {self.window} tokens; shorten it.")
        if "continuation" not in given:
            return OpenedText(head, room, text, None, (), token)
        spaced = self.spaced(string, given["continuation"])
        ids = self.token_notes.known(spaced)
        if not ids:
            raise BadInput("the continuation is empty; give its words, or leave it out for the model's own.")
        if len(ids) > room:
            raise BadInput(f"the continuation has {len(ids)} tokens, and there is room for {room}; shorten the texts.")
        return OpenedText(head, room, text, ids, (spaced,), token)

    def settle(self, batch: Sequence[OpenedText]) -> list[Text | AssayError]:
        found = self._greedy([row for row in batch if row.given is None])
        rows = [(row, next(found) if row.given is None else row.given) for row in batch]
        return [result_or_error(self._fixed, row, ids) for row, ids in rows]

    def _greedy(self, batch: Sequence[OpenedText]) -> Iterator[tuple[int, ...]]:
        """The likeliest token after the other, for every row until it ends; rows that have ended cost nothing."""
        found: list[list[int]] = [[] for _ in batch]
        going, stops = list(range(len(batch))), self.stops()
        while going := [i for i in going if len(found[i]) < min(self.max_new_tokens, batch[i].room)]:
            rows = [self._wanted(batch[i].ids, [*found[i], 0], len(found[i]), len(found[i]) + 1) for i in going]
            best = self.projected(rows, [(k, row.at[0]) for k, row in enumerate(rows)]).argmax(-1).tolist()
            goes_on = [(i, token) for i, token in zip(going, best, strict=True) if token not in stops]
            for i, token in goes_on:
                found[i].append(token)
            going = [i for i, _ in goes_on]
        return map(tuple, found)

    def head(self, prompt: Prompt) -> list[int] | AssayError:
        """The tokens of a prompt; an error where it leaves no room for a token, or cannot be said to the model."""
        if prompt.chat:
            try:
                head: list[int] | AssayError = chat_tokens(self.network, prompt)
            except AssayError as error:
                return error
        else:
            head = self._heads([str(prompt)])[0]
        if isinstance(head, AssayError):
            return head
        if self.room(head) < 1 or len(head) > self.window:
            return BadInput(
                f"the prompt has {len(head)} tokens, and {self.network.name} reads {self.window}; shorten it."
            )
        return head

    def room(self, head: Sequence[int]) -> int:
        """How many tokens may follow."""
        return self._room(head)

    @abstractmethod
    def learned(self, row: Row) -> Learned | AssayError:
        """A training text, or a text with its continuation, as strings that are not settled."""

    def following(self, string: str) -> list[int]:
        """The tokens of a string that goes on behind a prompt."""
        return list(self._pieces_of(string))

    def wanted(self, head: list[int], ids: Sequence[int], first: int, last: int) -> Wanted:
        """What is asked to learn the probabilities of the tokens from first to before last."""
        return self._wanted(head, ids, first, last)

    def stops(self) -> set[int]:
        """The tokens that end a text."""
        sources = (
            getattr(self.network.model, "generation_config", None),
            self.network.model.config,
            self.network.tokenizer,
        )
        given = [getattr(source, "eos_token_id", None) for source in sources]
        listed = [one if isinstance(one, list | tuple) else [one] for one in given]
        return {token for one in listed for token in one if token is not None}

    def end(self) -> int:
        """The token that ends a text: of several, the tokenizer's own."""
        stops, own = self.stops(), self.network.tokenizer.eos_token_id
        if not stops:
            raise BadInput(f"{self.network.name} has no token that ends a text, so no text is likely to end.")
        return int(own) if own in stops else min(stops)

    def _fixed(self, row: OpenedText, ids: tuple[int, ...]) -> Text:
        """The text with the continuation, and with the number of the token where one alone is explained."""
        if not ids:
            raise BadInput(f"the model ends {str(row.text)[:40]!r} at once; give a continuation to explain.")
        notes = [self._noted(ids, *row.strings)]
        if row.token is not None:
            notes.append(Field("token", self._numbered(ids, row.token), (), "note"))
        return Text((row.text.fields[0], *notes), row.text.focus)

    def _noted(self, ids: Sequence[int], *strings: str) -> Field:
        """A continuation as a note; where the user did not spell it, as it is decoded."""
        decoded = self.decoded(ids)
        return Field("continuation", self.token_notes.note(ids, *strings or (decoded, f" {decoded}")), (), "note")

    # One token alone (by_token.py)

    def token_fields(self, ids: Sequence[int], j: int) -> tuple[Field, ...]:
        """The notes that ask for token j of a continuation; a continuation of one token needs no number."""
        if j == 0 and self.reads_output:
            return (self._noted(ids[:1]),)
        return self._noted(ids), Field("token", f"{j}:{self.decoded([ids[j]])}", (), "note")

    def prefixes(self, text: str, ids: Sequence[int]) -> list[tuple[int, str]]:
        """For which j the tokens before j can stand behind the text as a string, and the string; it is none at 0."""
        return [(0, "")]

    def _numbered(self, ids: Sequence[int], token: str) -> str:
        number = token.partition(":")[0].strip()
        if not number.isdecimal() or int(number) >= len(ids):
            have = ", ".join(f"{j}:{self.decoded([i])}" for j, i in enumerate(ids[:20]))
            raise BadInput(f"{token!r} is no number of a token of the continuation; they are {have}.")
        return f"{int(number)}:{self.decoded([ids[int(number)]])}"

    def probes(self) -> list[list[int]]:
        """A short and a long prompt, to try how the model may be run."""
        return [head for head in self._heads(["a b", "one two three four five"]) if not isinstance(head, AssayError)]

    def continuation_of(self, ids: Sequence[int]) -> str:
        """The string of tokens as they go on behind a text: with the blank that a decoder drops at a start."""
        if len(ids) == 1:
            if ids[0] not in self._singles:
                self._singles[ids[0]] = self._behind_text(ids)
            return self._singles[ids[0]]
        return self._behind_text(ids)

    def _behind_text(self, ids: Sequence[int]) -> str:
        lead, before = self._lead
        both = self.decoded([*lead, *ids])
        return both[len(before) :] if both.startswith(before) else self.decoded(ids)

    @cached_property
    def _lead(self) -> tuple[list[int], str]:
        """The tokens of some text, and their string: what goes on is decoded behind it."""
        lead = self.following("a")
        return lead, self.decoded(lead)

    def decoded(self, ids: Sequence[int]) -> str:
        """The string of these tokens."""
        return str(self.network.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    def rows(self, rows: Sequence[Row]) -> Sequence[Wanted | AssayError]:
        heads = self._heads([row[0] for row in rows])
        return [
            head if isinstance(head, AssayError) else self._asked(head, *row[1:])
            for head, row in zip(heads, rows, strict=True)
        ]

    def _asked(self, head: list[int], continuation: str, token: str | None = None) -> Wanted:
        ids = self.token_notes.tokens(continuation)
        if token is None:
            return self._wanted(head, ids, 0, len(ids))
        j = int(token.partition(":")[0])
        return self._wanted(head, ids, j, j + 1)

    def vocabulary_places(self, rows: Iterable[Wanted]) -> list[int]:
        return [len(row.at) for row in rows]

    def logits(self, batch: Sequence[Wanted]) -> Tensor:
        return outcome_logits(batch, self.projected(batch, places_of(batch)))

    def logits_of_readings(self, batch: Sequence[Wanted], read: Sequence[int]) -> Tensor:
        """The same where several rows are one reading: `read` is the row that the model reads for each of them."""
        once = sorted(set(read))
        place = {row: i for i, row in enumerate(once)}
        index = [(place[one], at) for row, one in zip(batch, read, strict=True) for at in row.at]
        looked_up = {at: i for i, at in enumerate(dict.fromkeys(index))}  # each place is projected once
        logits = self.projected([batch[row] for row in once], list(looked_up))
        return outcome_logits(batch, logits, [looked_up[at] for at in index])

    def projected(self, batch: Sequence[Wanted], index: Index) -> Tensor:
        """The logits at these (row, place) pairs [n, vocabulary], at least in float32."""
        return projected(self.network, batch, index)
