"""Rows of token ids that a model is probed with: a short one, one as long, and a longer one that begins like it.

The ids are those of common words, with the special tokens that the tokenizer puts around a text or a pair. The long row
has an odd number of tokens: windows of sparse attention are even, so no map of such a model is square by accident.
Where attention goes by chunks (Reformer), which it does in longer rows only, the short row has two and the long three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.models.transformers.network import Network
from assay.models.transformers.tokens import Encoded

_WORDS = "a good film that is not too long and the music was very fine", "the cat sat on my old red mat again today"
_SHORT, _LONG = 3, 11  # tokens of the text itself, beside whole chunks


@dataclass(frozen=True)
class ProbeRows:
    """Each as a task's row: ids and types."""

    short: Encoded
    other: Encoded
    long: Encoded

    @classmethod
    def of(cls, network: Network, fields: int) -> ProbeRows:
        """For a model that reads so many fields; within a tiny window the long row is shorter."""
        encoder = network.encoder
        template = encoder.template(fields)
        room = min(encoder.window, 10**6) - template.size - (fields - 1)
        chunk = _chunk(network.model.config)
        long = max(1, min(room, _LONG + 2 * chunk))
        long -= (long + template.size + fields - 1) % 2 == 0 and long > 1
        short = max(1, min(_SHORT + chunk, long - 1))
        (first, _), (second, _) = encoder.rows([(words,) for words in _WORDS])
        before, after = map(len, encoder.template(1).specials)
        words, others = (ids[before : len(ids) - after] or [0] for ids in (first, second))

        def row(ids: list[int], size: int) -> Encoded:
            own = [ids[i % len(ids)] for i in range(size)]
            parts = [own, *[others[:1]] * (fields - 1)]
            return template.ids(parts), template.type_ids([len(part) for part in parts]) if template.has_types else None

        return cls(row(words, short), row(others, short), row(words, long))


def _chunk(config: Any) -> int:
    """The longest chunk of tokens that one of its layers attends by; 0 where its settings name none."""
    kinds = set(getattr(config, "attn_layers", None) or ())
    return max((getattr(config, f"{kind}_attn_chunk_length", None) or 0 for kind in kinds), default=0)
