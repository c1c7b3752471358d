"""Generate: what a language model writes after prompts, many rows at once, each as if it were alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.beams import Beam, BeamSearch
from assay.models.transformers.decoding import Ways, decoder, tried
from assay.models.transformers.sampling import Writing, choose, pieces
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.writing_fast import fast, widening
from assay.questions.generation import Ended, Generated, GenerateRow, Generations


@dataclass(frozen=True)
class Opened:
    """A row and the tokens of its prompt."""

    row: GenerateRow
    head: list[int]
    most: int

    def __len__(self) -> int:
        return len(self.head) + self.most


class GenerateHandler(Handler[HuggingFace]):
    """Writes one token of every row at a time; rows that have ended cost nothing any more."""

    mixed = True  # a step reads all weights for one token of each row, so that more rows cost little

    def __init__(self) -> None:
        self._ways: Ways | None = None

    def encode(self, model: HuggingFace, rows: Sequence[GenerateRow]) -> list[Opened | AssayError]:
        task = continued(model)
        heads = {prompt: task.head(prompt) for prompt in {row.prompt for row in rows}}
        return [_opened(task, row, heads[row.prompt]) for row in rows]

    def sequences(self, model: HuggingFace, encoded: Sequence[Opened]) -> list[int]:
        return [one.row.sampling.beams for one in encoded]

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[Opened]) -> list[int]:
        return self.sequences(model, encoded)

    def widening(self, model: HuggingFace) -> int:
        return widening(model.network, model.preferred_tokens)

    def answer(self, model: HuggingFace, batch: Sequence[Opened]) -> list[Generations]:
        task = continued(model)
        with torch.no_grad(), fast(model.network):
            self._ways = ways = self._ways or tried(task)
            found: dict[int, Generations] = {}
            for group in _groups(batch, ways):
                rows = [batch[i] for i in group]
                written = _searched if rows[0].row.sampling.beams > 1 else _written
                found |= zip(group, written(task, rows, ways), strict=True)
        return [found[i] for i in range(len(batch))]


def continued(model: HuggingFace) -> Continued:
    """The task of a model that goes on with texts."""
    assert isinstance(model.task.speaker, Continued)
    return model.task.speaker


def _opened(task: Continued, row: GenerateRow, head: list[int] | AssayError) -> Opened | AssayError:
    return head if isinstance(head, AssayError) else Opened(row, head, min(row.max_tokens, task.room(head)))


def _groups(batch: Sequence[Opened], ways: Ways) -> Iterator[list[int]]:
    """Rows that can be written together: of one way of choosing, and of one length where padding makes a difference."""
    groups: dict[tuple[bool, int], list[int]] = {}
    for i, one in enumerate(batch):
        groups.setdefault((one.row.sampling.beams > 1, 0 if ways.padded else len(one.head)), []).append(i)
    yield from groups.values()


def _written(task: Continued, batch: Sequence[Opened], ways: Ways) -> list[Generations]:
    """The likeliest token after the other, or one by chance, for every row until it ends."""
    stops, decode = task.stops(), task.continuation_of
    texts = [Writing(decode, one.row.stop, stops, one.most) for one in batch]
    chance = [one.row.generator() for one in batch]
    going, rows = list(range(len(batch))), decoder(task, [one.head for one in batch], ways)
    while going:
        samplings = [batch[i].row.sampling for i in going]
        numbers = [chance[i].random() if one.by_chance else 0.0 for i, one in zip(going, samplings, strict=True)]
        for i, (token, log_prob) in zip(going, choose(rows.logits, samplings, numbers), strict=True):
            texts[i].add(token, log_prob)
        kept = [k for k, i in enumerate(going) if texts[i].ended is None]
        going = [going[k] for k in kept]
        if going:
            rows.go_on(kept, [texts[i].ids[-1] for i in going])
    return [Generations((text.result(),), text.written) for text in texts]


def _searched(task: Continued, batch: Sequence[Opened], ways: Ways) -> list[Generations]:
    """The beams of all prompts side by side."""
    stops = task.stops()
    searches = [BeamSearch(one.row.sampling.beams, one.most, stops) for one in batch]
    rows, going = decoder(task, [one.head for one in batch], ways), list(searches)
    while going:
        kept, tokens, at = [], [], 0
        for search in going:
            size = len(search.beams)
            parents, new = search.step(rows.logits[at : at + size])
            if not search.over:
                kept += [at + parent for parent in parents]
                tokens += new
            at += size
        going = [search for search in going if not search.over]
        if going:
            rows.go_on(kept, tokens)
    return [_generations(task, one.row, search) for one, search in zip(batch, searches, strict=True)]


def _generations(task: Continued, row: GenerateRow, search: BeamSearch) -> Generations:
    texts = [_generated(task, row, beam) for _, beam in search.found[: row.n]]
    return Generations(tuple(texts), search.written)


def _generated(task: Continued, row: GenerateRow, beam: Beam) -> Generated:
    """The text of a beam, cut at the first stop string; the search itself does not look for these."""
    decode = task.continuation_of
    text = decode(beam.ids)
    found = [at for at in (text.find(stop) for stop in row.stop) if at >= 0]
    text = text[: min(found)] if found else text
    tokens = pieces(decode, beam.ids, text)
    ended: Ended = "stop" if found else "end" if beam.ended else "length"
    return Generated(text, tokens, np.array(beam.log_probs[: len(tokens)]), ended, len(beam.ids))
