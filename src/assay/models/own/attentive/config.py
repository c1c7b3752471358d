"""What an attentive model is made of."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from transformers import PretrainedConfig

from assay.errors import UnknownName

EncoderName: TypeAlias = Literal["lstm", "cnn", "average"]
AttentionName: TypeAlias = Literal["additive", "dot", "uniform"]


class AttentiveConfig(PretrainedConfig):  # type: ignore[misc]
    """The sizes are those of Jain and Wallace: 128 states, for the LSTM in each direction.

    With `pair` the attention over the first text is asked by the second one. `candidates` are token ids, one for each
    label: only labels whose token stands in the first text can then be the answer.
    """

    model_type = "attentive"

    def __init__(
        self,
        encoder: EncoderName = "lstm",
        attention: AttentionName = "additive",
        vocab_size: int = 5,
        embedding_size: int = 50,
        hidden_size: int = 128,
        pair: bool = False,
        candidates: list[int] | None = None,
        pad_token_id: int = 0,
        **more: Any,
    ) -> None:
        for what, name, names in (
            ("encoder", encoder, get_args(EncoderName)),
            ("attention", attention, get_args(AttentionName)),
        ):
            if name not in names:
                raise UnknownName.of(what, name, names)
        self.encoder, self.attention = encoder, attention
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.pair, self.candidates = pair, candidates
        super().__init__(pad_token_id=pad_token_id, **more)
