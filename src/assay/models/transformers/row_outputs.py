"""What a row's number is made of: the logits of its labels, or those at the places of its tokens.

A classifier gives [rows, labels], and the number is the loss of a label or what is explained. A language model gives
[rows, places, vocabulary]: of a training text the places are all that have a token before them, of a prompt with its
continuation those of the continuation, and padding is never among them. The loss is the mean over the tokens, as in
training, or their sum; what is explained is the probability of the explained tokens together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from assay.errors import AssayError
from assay.models.transformers.scalars import explained
from assay.models.transformers.tasks.base import Task, at_least_two, two_way
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.projection import Wanted
from assay.models.transformers.tasks.seq2seq import Seq2Seq
from assay.questions.base import Aim
from assay.questions.parameters import DrawnTokenLoss, Loss, Target, TokenLoss

if TYPE_CHECKING:
    from assay.models.transformers.adapter import HuggingFace


@dataclass(frozen=True)
class EncodedTarget:
    """A row as the model reads it, and the number whose gradient is wanted."""

    row: Any  # ids and types, or a Wanted
    of: Loss | TokenLoss | DrawnTokenLoss | Aim

    def __len__(self) -> int:
        return len(self.row.ids) + len(self.row.before) if isinstance(self.row, Wanted) else len(self.row[0])


class RowOutputs(Protocol):
    """What is taken from the outputs of a model, and the wanted number of each row."""

    two_texts: bool  # whether the model reads what goes in and what comes out apart

    def encoded(self, targets: Sequence[Target]) -> list[EncodedTarget | AssayError]: ...
    def inputs(self, batch: Sequence[EncodedTarget]) -> dict[str, Tensor]: ...
    def of(self, output: Any, batch: Sequence[EncodedTarget]) -> Tensor: ...
    def values(self, outputs: Tensor, batch: Sequence[EncodedTarget]) -> Tensor: ...
    def numbers(self, batch: Sequence[EncodedTarget]) -> int:
        """How many a row's outputs have."""
        ...


def outputs_of(model: HuggingFace) -> RowOutputs:
    return TokenOutputs(model.task) if isinstance(model.task, Continued) else LabelOutputs(model.task)


class LabelOutputs:
    """Of a classifier."""

    two_texts = False

    def __init__(self, task: Task) -> None:
        self.task = task

    def encoded(self, targets: Sequence[Target]) -> list[EncodedTarget | AssayError]:
        return _encoded(self.task.rows([target.strings for target in targets]), targets)

    def inputs(self, batch: Sequence[EncodedTarget]) -> dict[str, Tensor]:
        return self.task.network.inputs([row.row[0] for row in batch], [row.row[1] for row in batch])

    def of(self, output: Any, batch: Sequence[EncodedTarget]) -> Tensor:
        return at_least_two(output.logits)

    def values(self, outputs: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        labels = torch.tensor([row.of.label if isinstance(row.of, Loss) else 0 for row in batch], device=outputs.device)
        losses = nn.functional.cross_entropy(outputs, labels, reduction="none")
        aims = [row.of if isinstance(row.of, Aim) else Aim(0) for row in batch]
        is_loss = torch.tensor([isinstance(row.of, Loss) for row in batch], device=outputs.device)
        return torch.where(is_loss, losses, explained(outputs, aims, self.task.multi_label, self.task.one_logit))

    def numbers(self, batch: Sequence[EncodedTarget]) -> int:
        return max(2, len(self.task.labels))


class TokenOutputs:
    """Of a model that goes on with texts."""

    def __init__(self, task: Continued) -> None:
        self.task, self.two_texts = task, isinstance(task, Seq2Seq)
        self.vocabulary = int(task.network.model.config.get_text_config(decoder=True).vocab_size)

    def encoded(self, targets: Sequence[Target]) -> list[EncodedTarget | AssayError]:
        """What is explained is settled; a training text is as it was given."""
        return _encoded([self._row(target) for target in targets], targets)

    def _row(self, target: Target) -> Any:
        if isinstance(target.of, Aim):
            return self.task.rows([target.strings])[0]
        found = self.task.learned(target.strings)
        return found if isinstance(found, AssayError) else found.wanted

    def inputs(self, batch: Sequence[EncodedTarget]) -> dict[str, Tensor]:
        network, rows = self.task.network, [row.row for row in batch]
        found: dict[str, Any] = network.inputs([row.ids for row in rows], [row.types for row in rows])
        if rows[0].before:
            found["decoder_input_ids"] = network.inputs([row.before for row in rows], [None] * len(rows))["input_ids"]
        return {**found, **({"use_cache": False} if "use_cache" in network.takes else {})}

    def of(self, output: Any, batch: Sequence[EncodedTarget]) -> Tensor:
        """[rows, places, vocabulary]; a row with fewer places repeats its first, which then counts for nothing."""
        longest = max(len(row.row.at) for row in batch)
        places = [[*row.row.at, *row.row.at[:1] * (longest - len(row.row.at))] for row in batch]
        at = torch.tensor(places, device=output.logits.device)
        logits: Tensor = output.logits[torch.arange(len(batch), device=at.device)[:, None], at]
        return logits if logits.dtype == torch.float64 else logits.float()

    def values(self, outputs: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        longest = outputs.shape[1]
        there = torch.tensor([[j < len(row.row.at) for j in range(longest)] for row in batch], device=outputs.device)
        chances = outputs.log_softmax(-1).gather(2, self._tokens(outputs, batch)[:, :, None])[:, :, 0]
        total = torch.where(there, chances, 0.0).sum(dim=1)
        share = torch.tensor([_share(row) for row in batch], device=outputs.device, dtype=outputs.dtype)
        aims = [row.of if isinstance(row.of, Aim) else Aim(0) for row in batch]
        is_loss = torch.tensor([not isinstance(row.of, Aim) for row in batch], device=outputs.device)
        return torch.where(is_loss, -total * share, explained(two_way(total), aims, False))

    def _tokens(self, outputs: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        """The tokens whose probabilities count [rows, places]: those of the text, or drawn from the model."""
        longest = outputs.shape[1]
        given = [[*row.row.tokens, *[0] * (longest - len(row.row.tokens))] for row in batch]
        tokens = torch.tensor(given, device=outputs.device)
        for i, row in enumerate(batch):
            if isinstance(row.of, DrawnTokenLoss):
                tokens[i, : len(row.row.at)] = _drawn(outputs[i, : len(row.row.at)].detach(), row)
        return tokens

    def numbers(self, batch: Sequence[EncodedTarget]) -> int:
        return self.vocabulary * max(len(row) for row in batch)


def _encoded(rows: Sequence[Any], targets: Sequence[Target]) -> list[EncodedTarget | AssayError]:
    pairs = zip(rows, targets, strict=True)
    return [row if isinstance(row, AssayError) else EncodedTarget(row, target.of) for row, target in pairs]


def _share(row: EncodedTarget) -> float:
    """What the sum over tokens is multiplied with."""
    match row.of:
        case TokenLoss(mean=True):
            return 1 / len(row.row.at)
        case DrawnTokenLoss(mean=True):
            return float(len(row.row.at) ** -0.5)
    return 1.0


def _drawn(logits: Tensor, row: EncodedTarget) -> Tensor:
    """A token for each place, from the model's own probabilities; by a seed of the row's own, whatever its company."""
    assert isinstance(row.of, DrawnTokenLoss)
    digest = blake2b(repr((row.row, row.of.draw)).encode(), digest_size=8).digest()
    level = np.random.default_rng(int.from_bytes(digest)).random(len(logits))
    below = logits.double().softmax(-1).cumsum(-1)
    wanted = torch.tensor(level, device=logits.device)[:, None] * below[:, -1:]
    return torch.searchsorted(below, wanted)[:, 0].clamp_max(logits.shape[-1] - 1)
