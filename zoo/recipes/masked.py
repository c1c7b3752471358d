"""Masked language modelling: which pieces are hidden, and the loss at those (Devlin et al. 2018, arXiv:1810.04805).

15 % of the pieces become [MASK], always (no random or kept pieces), because the model is asked about [MASK] only. The
vocabulary is projected to at the hidden pieces only. Beside it, sentences may be held near what the base encoder
thought of them: 1 - cos(P mean(h), mean(base)); that keeps the base's knowledge of meaning for the adapters.
"""

from dataclasses import dataclass

import torch
from corpus import Corpus
from encoder import CLS, MASK, PAD, SEP, Model
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy

RATE = 0.15


@dataclass(frozen=True)
class Reader:
    """Random batches of one width, all on the device: windows of the stream, or single rows."""

    source: Tensor
    width: int
    count: int
    meaning: Tensor | None = None

    def draw(self) -> tuple[Tensor, Tensor | None]:
        """Ids of one batch, and what the base thought of each row where that is known."""
        if self.source.dim() == 2:
            chosen = torch.randint(len(self.source), (self.count,), device=self.source.device)
            return self.source[chosen].long(), None if self.meaning is None else self.meaning[chosen]
        return self.window(), None

    def window(self) -> Tensor:
        """Windows that begin anywhere in the stream."""
        places = torch.arange(self.width - 2, device=self.source.device)
        begins = torch.randint(len(self.source) - self.width, (self.count, 1), device=self.source.device)
        ends = [torch.full_like(begins, token) for token in (CLS, SEP)]
        return torch.cat([ends[0], self.source[begins + places].long(), ends[1]], dim=1)


def readers(corpus: Corpus, slots: int, device: str) -> dict[str, Reader]:
    """A reader for each kind of batch; every batch has the same number of token slots."""
    stream = torch.from_numpy(corpus.stream.astype("int32")).to(device)
    kinds = {f"window {width}": Reader(stream, width, slots // width) for width in (128, 512)}
    for width, matrix in corpus.rows.items():
        kinds[f"rows {width}"] = Reader(torch.from_numpy(matrix.astype("int32")).to(device), width, slots // width)
    return kinds


def hide(ids: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Ids with `count` ordinary pieces replaced by [MASK]; their flat places; what stood there."""
    special = (ids == PAD) | (ids == CLS) | (ids == SEP)
    places = (
        torch.rand(ids.shape, device=ids.device).masked_fill_(special, -1).flatten().topk(count, sorted=False).indices
    )
    flat = ids.flatten()
    return flat.index_fill(0, places, MASK).view_as(ids), places, flat[places]


def hidden_count(reader: Reader) -> int:
    """How many pieces to hide in each batch of a reader: 15 % of what is not special, as a fixed number."""
    ids, _ = reader.draw()
    return int(RATE * int(((ids != PAD) & (ids != CLS) & (ids != SEP)).sum()))


def states(bert: Model, ids: Tensor, padded: bool) -> Tensor:
    """The last hidden states; rows with padding may be pairs, whose second part follows the first [SEP]."""
    seps = (ids == SEP).int()
    types = (seps.cumsum(1) - seps).clamp(max=1) if padded else torch.zeros_like(ids)
    hidden: Tensor = bert.embeddings(input_ids=ids, token_type_ids=types)
    mask = (ids != PAD)[:, None, None, :] if padded else None
    for layer in bert.encoder.layer:
        hidden = layer(hidden, mask)
    return hidden


def average(hidden: Tensor, ids: Tensor) -> Tensor:
    """The mean state of the pieces of each row."""
    real = (ids != PAD)[:, :, None].to(hidden.dtype)
    return (hidden * real).sum(1) / real.sum(1)


@torch.no_grad()
def meanings(bert: Model, source: Tensor) -> Tensor:
    """What the base encoder thinks of each row, in half precision."""
    parts = [average(states(bert, ids.long(), True), ids) for ids in source.split(4096)]
    return torch.cat([part.half() for part in parts])


def head_loss(head: nn.Module, hidden: Tensor, wanted: Tensor) -> Tensor:
    """Cross-entropy at the hidden pieces."""
    return cross_entropy(head(hidden).float(), wanted)


def loss(model: Model, reader: Reader, count: int, near: nn.Linear, keep: float, head: nn.Module) -> Tensor:
    """The loss of one fresh batch."""
    ids, meaning = reader.draw()
    inputs, places, wanted = hide(ids, count)
    hidden = states(model.bert, inputs, reader.source.dim() == 2)
    value: Tensor = head(model.cls, hidden.flatten(0, 1)[places], wanted)
    if meaning is None:
        return value
    return value + keep * (1 - cosine_similarity(near(average(hidden, ids)).float(), meaning.float()).mean())
