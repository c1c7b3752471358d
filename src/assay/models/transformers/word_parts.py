"""What is known of a training text piece by piece, word by word; what lies on no word, such as a pooled state, is last.

A piece is where a layer reads it. The layers above the embeddings read states, in which a piece knows of its
neighbours; the sum over all pieces, and the part of no piece, is exact all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.models.transformers.shortening import owners
from assay.models.transformers.tasks.causal_lm import CausalLM
from assay.questions.answers import PieceWords
from assay.statistics.arrays import Floats
from assay.text.example import text_of
from assay.text.text import Field, Row, Text

if TYPE_CHECKING:
    from assay.models.transformers.adapter import HuggingFace


def by_word(model: HuggingFace, strings: Row, parts: Floats) -> Floats | None:
    """[words + 1], of [pieces + 1]; None where the tokenizer does not say where its pieces stand."""
    words = _owners(model, strings)
    if words is None or words.pieces < len(parts) - 1:
        return None
    numbers = np.zeros(words.pieces)
    numbers[: len(parts) - 1] = parts[:-1]  # the last token of a text that goes on is not read
    found = words.per_word(numbers)
    return np.append(found, parts.sum() - found.sum())


def _owners(model: HuggingFace, strings: Row) -> PieceWords | None:
    if isinstance(model.task, CausalLM) and len(strings) == 2:
        return _with_continuation(model, model.task, *strings)
    return model.pieces_of(Text.of(text_of(strings)))


def _with_continuation(model: HuggingFace, task: CausalLM, prompt: str, continuation: str) -> PieceWords | None:
    """Of a prompt and what follows it: the pieces of both, one behind the other."""
    first, string = model.pieces_of(Text.of(prompt)), task.spaced(prompt, continuation)
    second, spans = Text.of(string), model.encoder.spans(string)
    if first is None or len(spans) != len(task.following(string)):
        return None
    at = first.pieces - len(model.encoder.template(1).specials[1])
    links = owners(Field("continuation", string, second.spans), spans)
    piece, word, share = (np.array(part) for part in zip(*links, strict=True))
    return PieceWords(
        at + len(spans),
        first.words + len(second),
        np.concatenate([first.piece, at + piece]),
        np.concatenate([first.word, first.words + word]),
        np.concatenate([first.share, share]),
    )
