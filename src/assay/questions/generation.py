"""What a language model writes after a prompt, and how likely it finds a text that is given to it.

texts = yield Generate(prompt, n=4, sampling=Sampling(temperature=0.9, top_p=0.95))     -> list of Generated
known = yield Likelihood(prompt, continuation, ...)                                    -> list of TokenLikelihoods

A sample is decided by its prompt, its seed and its number among the n: by u ~ U(0, 1), one for each token, from a
generator made of these three, and the smallest token t with P(token <= t) >= u. So it is the same alone or in company.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import OfNumbers
from assay.questions.base import Question, Speaker
from assay.statistics.arrays import Floats

Ended: TypeAlias = Literal["end", "stop", "length"]


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen: the likeliest one (temperature 0), by chance, or by a beam search.

    With `top_p` only the fewest tokens that have this probability together can be drawn (Holtzman et al. 2020).
    """

    temperature: float = 0.0
    top_p: float = 1.0
    beams: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise BadInput(f"a temperature is at least 0 and finite, not {self.temperature}.")
        if not 0 < self.top_p <= 1:
            raise BadInput(f"top_p is above 0 and at most 1, not {self.top_p}.")
        if self.beams < 1:
            raise BadInput(f"a beam search has at least one beam, not {self.beams}.")
        if self.beams > 1 and self.temperature:
            raise BadInput("a beam search takes no temperature: it is not by chance.")

    @property
    def by_chance(self) -> bool:
        return self.temperature > 0


@dataclass(frozen=True)
class Prompt:
    """What a model goes on with; for a chat model `text` is what the user says, and `begun` how its reply begins."""

    text: str
    begun: str = ""
    chat: bool = False

    def __post_init__(self) -> None:
        try:
            f"{self.text}{self.begun}".encode()
        except UnicodeEncodeError as error:
            raise BadInput(
                f"the prompt has a lone surrogate at character {error.start}, which no tokenizer can read."
            ) from error

    @classmethod
    def of(cls, prompt: str | Prompt) -> Prompt:
        return prompt if isinstance(prompt, Prompt) else cls(prompt)

    def __str__(self) -> str:
        return f"{self.text}{self.begun}"


@dataclass(frozen=True)
class GenerateRow:
    """One text to be written; a row of a beam search is `n` texts."""

    prompt: Prompt
    max_tokens: int
    stop: tuple[str, ...]
    sampling: Sampling
    seed: int = 0
    number: int = 0
    n: int = 1

    def __str__(self) -> str:
        return str(self.prompt)

    def generator(self) -> np.random.Generator:
        """Its own source of chance, whatever else is written."""
        key = f"{self.seed}:{self.number}:{self.prompt.chat}:{self.prompt.text}\0{self.prompt.begun}"
        return np.random.default_rng(int.from_bytes(blake2b(key.encode(), digest_size=16).digest()))


@dataclass(frozen=True)
class Generated(OfNumbers):
    """What was written: the text, its tokens (which make up the text), and log p of each, as the model itself has it.

    `ended` says why it is no longer: the model ended it, a stop string came, or it had all the tokens it may have.
    `written` counts the tokens that the model had to write for it.
    """

    text: str
    tokens: tuple[str, ...]
    log_probs: Floats
    ended: Ended
    written: int


@dataclass(frozen=True)
class Generations:
    """The texts of one row."""

    texts: tuple[Generated, ...]
    written: int

    @property
    def finite(self) -> bool:
        return all(text.finite for text in self.texts)


@dataclass(frozen=True)
class TokenLikelihoods(OfNumbers):
    """The tokens of a given text, and log p of each after all that stands before it."""

    tokens: tuple[str, ...]
    log_probs: Floats

    @cached_property
    def total(self) -> float:
        """The log-probability of the whole text."""
        return float(self.log_probs.sum())

    @cached_property
    def mean(self) -> float:
        """The log-probability of a token, on average."""
        return float(self.log_probs.mean()) if len(self.log_probs) else 0.0


class Generate(Question):
    """`n` texts that follow a prompt."""

    def __init__(
        self,
        prompt: str | Prompt,
        *,
        n: int = 1,
        seed: int = 0,
        stop: Iterable[str] = (),
        max_tokens: int = 64,
        sampling: Sampling | None = None,
        model: str | None = None,
    ) -> None:
        self.prompt, self.n, self.seed = Prompt.of(prompt), n, seed
        self.stop, self.max_tokens, self.sampling = tuple(stop), max_tokens, sampling or Sampling()
        self.model = model
        self._require_possible()

    def _require_possible(self) -> None:
        if self.max_tokens < 1 or self.n < 1:
            raise BadInput(f"at least one token of one text is to be written, not {self.max_tokens} of {self.n}.")
        if "" in self.stop:
            raise BadInput("an empty stop string would end every text at once.")
        if self.n > max(1, self.sampling.beams) and not self.sampling.by_chance:
            raise BadInput(
                f"{self.n} texts are wanted, and without chance there is one; "
                "give a temperature, or as many beams as texts."
            )

    def rows(self, model: Speaker) -> Sequence[GenerateRow]:
        each = self.prompt, self.max_tokens, self.stop, self.sampling
        if self.sampling.by_chance:
            return [GenerateRow(*each, self.seed, i) for i in range(self.n)]
        return [GenerateRow(*each, n=self.n)]  # the seed makes no difference

    def assemble(self, values: Sequence[Generations], model: Speaker) -> list[Generated]:
        return [text for value in values for text in value.texts]

    @classmethod
    def sequences(cls, rows: Collection[GenerateRow]) -> int:
        return sum(row.sampling.beams for row in rows)

    @classmethod
    def generated(cls, values: Sequence[Any]) -> int:
        return sum(value.written for value in values if isinstance(value, Generations))


@dataclass(frozen=True)
class LikelihoodRow:
    """A prompt and a text after it; `ended` where the text must end there too."""

    prompt: Prompt
    continuation: str
    ended: bool = False

    def __str__(self) -> str:
        return f"{self.prompt}{self.continuation}"


class Likelihood(Question):
    """How likely each of some texts is after a prompt; a text goes on exactly where the prompt ends, blank or not.

    With `ended` the token that ends a text is one more: else the beginning of a text is always likelier than the whole.
    """

    def __init__(
        self, prompt: str | Prompt, *continuations: str, ended: bool = False, model: str | None = None
    ) -> None:
        self.prompt, self.continuations, self.ended, self.model = Prompt.of(prompt), continuations, ended, model

    def rows(self, model: Speaker) -> Sequence[LikelihoodRow]:
        return [LikelihoodRow(self.prompt, Prompt(one).text, self.ended) for one in self.continuations]
