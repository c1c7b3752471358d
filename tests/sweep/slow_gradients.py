"""Gradient methods by hand: one row, a hook on the embedding layer, and the sums of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sweep.slow_rows import NoSuchNumber, Row, SlowTask


class AtEmbeddings:
    """The explained number as a function of the embeddings of one row."""

    def __init__(self, task: SlowTask) -> None:
        self.task, self.row = task, task.row(task.words)
        if self.row.pieces is None:
            raise NoSuchNumber("the tokenizer does not tell which piece is which word's")
        self.size = self.row.inputs["input_ids"].shape[1]
        self.explained = sorted({i for own in self.row.pieces for i in own})
        self._require_one_way_in()
        self.point = self._embedded()

    def _require_one_way_in(self) -> None:
        """The words come in by one embedding layer, once; else there is no one gradient of them."""
        words, calls = self.task.embedding.weight.shape[0], []
        tables = [m for m in self.task.model.modules() if isinstance(m, nn.Embedding) and m.num_embeddings == words]
        same = [self.row.inputs["input_ids"].flatten().tolist()]
        decoder = self.row.inputs.get("decoder_input_ids")

        def note(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            calls.append((module, args[0].flatten().tolist()))

        handles = [table.register_forward_hook(note) for table in tables]
        try:
            with torch.no_grad():
                self.task.model(**self.row.inputs)
        finally:
            for handle in handles:
                handle.remove()
        own = [ids[: self.size] for _, ids in calls if decoder is None or ids != decoder.flatten().tolist()]
        own = [ids for ids in own if any(ids)]  # XLM looks its types up among the words
        if own != same:
            raise NoSuchNumber(f"the words come in by {len(own)} embedding layers")

    def _placed(self, point: Tensor | None) -> tuple[Tensor, Tensor]:
        """The explained number, and the embeddings [pieces, size] at which it was taken."""
        seen: list[Tensor] = []

        def place(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
            if seen:
                return output
            flat = output.reshape(-1, output.shape[-1])  # Longformer fills its last window up, behind the row
            if 1 not in output.shape[:2] or len(flat) < self.size:
                raise NoSuchNumber(f"the embedding layer gives {list(output.shape)} for {self.size} pieces")
            seen.append(flat[: self.size].detach().clone() if point is None else point)  # some go on in place
            return output if point is None else torch.cat([point, flat[self.size :]]).reshape(output.shape)

        handle = self.task.embedding.register_forward_hook(place)
        try:
            value = self.row.read(self.task.model(**self.row.inputs))
        finally:
            handle.remove()
        return value, seen[0]

    def _embedded(self) -> Tensor:
        with torch.no_grad():
            return self._placed(None)[1].clone()

    def gradient(self, point: Tensor) -> Tensor:
        leaf = point.clone().requires_grad_()
        value, _ = self._placed(leaf)
        return torch.autograd.grad(value, leaf)[0]

    def per_word(self, numbers: Tensor) -> np.ndarray:
        return np.array([float(numbers[own].double().sum()) for own in self.row.pieces or ()])

    def baseline(self, ids: Sequence[int]) -> Tensor:
        """The embeddings with those of these ids, again and again, in the place of the explained pieces."""
        with torch.no_grad():
            vectors = self.task.embedding(torch.tensor([list(ids)])).reshape(len(ids), -1)
        start = self.point.clone()
        for k, i in enumerate(self.explained):
            start[i] = vectors[k % len(ids)]
        return start


def gradient(task: SlowTask) -> np.ndarray:
    at = AtEmbeddings(task)
    return np.sqrt(at.per_word(at.gradient(at.point).double().square().sum(-1)))


def input_x_gradient(task: SlowTask) -> np.ndarray:
    at = AtEmbeddings(task)
    return at.per_word((at.gradient(at.point) * at.point).sum(-1))


def terms_of_input_x_gradient(task: SlowTask) -> float:
    """A norm right after the embeddings, and no way around it, makes the terms cancel: the score is their rounding."""
    at = AtEmbeddings(task)
    return float(at.per_word((at.gradient(at.point) * at.point).abs().sum(-1)).max())


def integrated_gradients(task: SlowTask, steps: int) -> np.ndarray:
    """Gauss-Legendre from the embedding of the padding token."""
    at = AtEmbeddings(task)
    start = at.baseline([task.padding])
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    way, total = at.point - start, 0
    for node, weight in zip(nodes, weights, strict=True):
        total = total + weight / 2 * (at.gradient(start + float((node + 1) / 2) * way) * way).sum(-1)
    return at.per_word(total)


def smooth_grad(task: SlowTask, chance: np.random.Generator, samples: int, noise: float = 0.01) -> np.ndarray:
    """The norm of the mean gradient; the noise is drawn as Assay draws it, from the same seeds."""
    at = AtEmbeddings(task)
    own = at.point[at.explained]
    spread, total = noise * float(own.max() - own.min()), 0
    for seed in chance.integers(2**63, size=samples):
        moved = at.point.clone()
        moved[at.explained] += spread * torch.randn(own.shape, generator=torch.Generator().manual_seed(int(seed)))
        total = total + at.gradient(moved).double() / samples
    return np.sqrt(at.per_word(total.square().sum(-1)))


def expected_gradients(
    task: SlowTask, chance: np.random.Generator, references: Sequence[str], samples: int
) -> np.ndarray:
    """References and places on the way are drawn as Assay draws them."""
    at = AtEmbeddings(task)
    order = chance.permutation(len(references))[:samples]
    times = -(-samples // len(order))
    places = (np.arange(times * len(order)) + chance.random(times * len(order))) / (times * len(order))
    total = 0
    for k, t in enumerate(places):
        text = references[order[k % len(order)]]
        start = at.baseline(_of_words(task, text))
        way = at.point - start
        total = total + (at.gradient(start + float(t) * way) * way).sum(-1).double() / len(places)
    return at.per_word(total)


def _of_words(task: SlowTask, text: str) -> list[int]:
    """The pieces of a text that have characters of its words: no blank by itself."""
    coded = task.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    pairs = zip(coded["input_ids"], coded["offset_mapping"], strict=True)
    return [i for i, (start, end) in pairs if text[start:end].strip()]


def greedy_reduction(task: SlowTask) -> list[int]:
    """The words that are left when the one with the least gradient x input goes first, while the label stays."""
    kept: list[int] = list(range(len(task.words)))
    while len(kept) > 1:
        words = [word if i in kept else None for i, word in enumerate(task.words)]
        fewer = _reduced(task, words)
        at = AtEmbeddings(fewer)
        scores = at.per_word((at.gradient(at.point) * at.point).sum(-1))
        rest = [i for k, i in enumerate(kept) if k != int(scores.argmin())]
        if _predicted(task, rest) != task.target:  # type: ignore[attr-defined]
            break
        kept = rest
    return kept


def _reduced(task: SlowTask, words: Sequence[str | None]) -> SlowTask:
    made = object.__new__(type(task))
    made.__dict__ |= task.__dict__ | {"words": [word for word in words if word is not None]}
    return made


def _predicted(task: SlowTask, kept: Sequence[int]) -> int:
    row: Row = task.row([word if i in kept else None for i, word in enumerate(task.words)])
    with torch.no_grad():
        return int(task.model(**row.inputs).logits[0].argmax())
