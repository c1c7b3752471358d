"""Language models the slow way: a word in a hole, a continuation of a prompt, an output text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from sweep.slow_rows import (
    Classification,
    NoSuchNumber,
    Row,
    SlowTask,
    Span,
    Tagging,
    Words,
    joined,
    odds_of,
    touching,
)


class Masked(SlowTask):
    """The log-odds of one word in the hole that it left."""

    def settle(self) -> None:
        text, chosen = self.given
        self.all, self.chosen = text.split(), int(chosen.partition(":")[0])
        self.words = [word for i, word in enumerate(self.all) if i != self.chosen]
        if self.tokenizer.mask_token is None or not self.tokenizer.is_fast:
            raise NoSuchNumber("the tokenizer has no mask token")
        string, spans = joined(self.all)
        inputs, offsets, fields = self.encoded(string)
        own = touching(spans, offsets, fields, 0)[self.chosen]  # type: ignore[index]
        self.tokens = inputs["input_ids"][0, own].tolist()

    def row(self, words: Words) -> Row:
        hole = self.tokenizer.mask_token * len(self.tokens)
        there: list[str | None] = [*words[: self.chosen], hole, *words[self.chosen :]]
        string, spans = joined(there)
        inputs, offsets, fields = self.encoded(string)
        at = [i for i, token in enumerate(inputs["input_ids"][0].tolist()) if token == self.tokenizer.mask_token_id]
        pieces = touching(spans, offsets, fields, 0)
        del pieces[self.chosen]  # type: ignore[union-attr]
        return Row(inputs, lambda out: odds_of(chances(out.logits[0], at, self.tokens)), pieces)


class Causal(SlowTask):
    """The log-odds of a continuation of the prompt."""

    @property
    def padding(self) -> int:
        tokens = self.tokenizer
        ids = (tokens.pad_token_id, tokens.eos_token_id, tokens.bos_token_id)
        return next(i for i in ids if i is not None)

    def settle(self) -> None:
        prompt, continuation = self.given
        self.words = prompt.split()
        before, after = self.head(prompt)[0], self.head(f"{prompt} {continuation}")[0]
        self.tokens = after[len(before) :]
        assert after[: len(before)] == before

    def head(self, prompt: str) -> tuple[list[int], list[tuple[int, int]], list[int | None]]:
        """The pieces of the prompt with what stands before it, and not what ends a text."""
        coded = self.tokenizer(prompt, return_offsets_mapping=True)
        fields = coded.sequence_ids(0)
        end = len(fields)
        while end and fields[end - 1] is None and any(field == 0 for field in fields[:end]):
            end -= 1
        ids = coded["input_ids"][:end] if any(field == 0 for field in fields) else self._nothing(coded["input_ids"])
        return ids, coded["offset_mapping"][:end], fields[:end]

    def _nothing(self, ids: list[int]) -> list[int]:
        """A prompt without words: what stands before a text, or else the token that begins or ends one."""
        begins = [i for i in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if i is not None]
        specials = self.tokenizer("a")["input_ids"]
        return ids[: 1 if specials[:1] == ids[:1] else 0] or begins[:1]

    def row(self, words: Words) -> Row:
        string, spans = joined(words)
        ids, offsets, fields = self.head(string)
        at = [len(ids) - 1 + j for j in range(len(self.tokens))]
        inputs = self.inputs([*ids, *self.tokens[:-1]])
        pieces = touching(spans, offsets, fields, 0)
        return Row(inputs, lambda out: odds_of(chances(out.logits[0], at, self.tokens)), pieces)


class Seq2Seq(SlowTask):
    """The log-odds of an output text, the decoder starting as when the model generates."""

    def settle(self) -> None:
        text, output = self.given
        self.words = text.split()
        self.tokens = self.tokenizer(text_target=output, add_special_tokens=False)["input_ids"]
        config = self.model.config
        fields = self.tokenizer("a").sequence_ids(0)
        before = self.tokenizer("a")["input_ids"][: fields.index(0)]
        self.start = [config.decoder_start_token_id, *before]

    @property
    def embedding(self) -> Any:
        return self.model.get_encoder().get_input_embeddings()

    def row(self, words: Words) -> Row:
        string, spans = joined(words)
        inputs, offsets, fields = self.encoded(string)
        inputs["decoder_input_ids"] = torch.tensor([[*self.start, *self.tokens[:-1]]])
        inputs["use_cache"] = False  # with a cache FSMT looks at the last token alone
        at = [len(self.start) - 1 + j for j in range(len(self.tokens))]
        read = lambda out: odds_of(chances(out.logits[0], at, self.tokens))  # noqa: E731
        return Row(inputs, read, touching(spans, offsets, fields, 0))


def chances(logits: Tensor, at: Sequence[int], tokens: Sequence[int]) -> Tensor:
    """The log-probability of these tokens at these places."""
    found = logits.log_softmax(-1)
    return torch.stack([found[i, token] for i, token in zip(at, tokens, strict=True)]).sum()


SLOW_TASKS: dict[str, type[SlowTask]] = {
    "classification": Classification,
    "tagging": Tagging,
    "span": Span,
    "masked": Masked,
    "causal": Causal,
    "seq2seq": Seq2Seq,
}
