"""Replacements and VocabularyWords: whole words of the vocabulary, ranked by the gradient or drawn at random.

    change(i -> v) = e_v . g_first(i) - sum over the pieces p of word i of e_p . g_p          g = dF/de

All pairs of a word and a vocabulary entry are one matrix product, taken in portions of the vocabulary where the
gradient arises; only the best k of every word leave the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.gradients import gradient_at, lines_of
from assay.models.transformers.network import Network
from assay.models.transformers.paths import EncodedLine
from assay.models.transformers.tasks.vocabulary import Vocabulary
from assay.questions.gradients import GradientRow
from assay.questions.replacements import Candidates, DrawnWords, ReplacementRow, WordsRow
from assay.text.text import Text

_PORTION = 8192  # entries of the vocabulary that are compared at once


@dataclass(slots=True)
class WantedReplacement:
    """A row of the question, and its text as a line of gradients with one point."""

    row: ReplacementRow
    line: EncodedLine

    def __len__(self) -> int:
        return len(self.line)


class _OfVocabulary:
    """The replacement words of a network, found out once."""

    def __init__(self) -> None:
        self._known: tuple[Network, list[int], list[str]] | None = None

    def words(self, network: Network) -> tuple[list[int], list[str]]:
        """Ids and spellings of the usable words: letters only, and read back by the tokenizer as this one piece."""
        if self._known is None or self._known[0] is not network:
            found = list(_usable(network))
            self._known = network, [i for i, _ in found], [word for _, word in found]
        return self._known[1:]


class VocabularyWordsHandler(_OfVocabulary, Handler[HuggingFace]):
    """Draws words; the model is not run."""

    def encode(self, model: HuggingFace, rows: Sequence[WordsRow]) -> Sequence[WordsRow]:
        return rows

    def answer(self, model: HuggingFace, batch: Sequence[WordsRow]) -> list[DrawnWords]:
        words = self.words(model.network)[1] or ["x"]  # a vocabulary without any whole word
        drawn = [np.random.default_rng(row.seed).integers(len(words), size=row.many) for row in batch]
        return [DrawnWords(tuple(words[i] for i in some.tolist())) for some in drawn]


class ReplacementsHandler(_OfVocabulary, Handler[HuggingFace]):
    """One backward pass for each text, and one product with the embeddings of the vocabulary."""

    even = True

    def encode(self, model: HuggingFace, rows: Sequence[ReplacementRow]) -> list[WantedReplacement | AssayError]:
        lines = lines_of(model, [GradientRow(row.text, row.aim, "dot", None) for row in rows])
        pairs = zip(rows, lines, strict=True)
        return [line if isinstance(line, AssayError) else WantedReplacement(row, line) for row, line in pairs]

    def lengths(self, model: HuggingFace, encoded: Sequence[WantedReplacement]) -> list[int]:
        return [len(wanted) + model.task.beside(wanted.row.text) for wanted in encoded]

    def answer(self, model: HuggingFace, batch: Sequence[WantedReplacement]) -> list[tuple[int, Tensor, Tensor]]:
        """For each row how many words it has, and the places in the vocabulary and the changes of the best."""
        points, _, gradient = gradient_at(model, [wanted.line for wanted in batch])
        dots = points.per_word(gradient)
        embedded = points.way
        return [
            self._best(model, wanted, gradient[i].detach(), embedded[i], dots[i].detach())
            for i, wanted in enumerate(batch)
        ]

    def _best(
        self, model: HuggingFace, wanted: WantedReplacement, gradient: Tensor, embedded: Tensor, dots: Tensor
    ) -> tuple[int, Tensor, Tensor]:
        """The best k of every word: their places among the usable words, and the changes that they would make."""
        n, pieces, sign = len(wanted.row.text), wanted.line.pieces, 1.0 if wanted.row.up else -1.0
        first, seen = _first_pieces(pieces.piece, pieces.word, n)
        at = torch.tensor(first, device=gradient.device)
        mean = _means(embedded, pieces.piece, pieces.word, n)
        best: list[tuple[Tensor, Tensor]] = []
        for start, vectors in self._vectors(model, gradient):
            changes = sign * (gradient[at].float() @ vectors.T - dots[:n, None].float())
            alike = torch.nn.functional.normalize(mean.float(), dim=-1) @ torch.nn.functional.normalize(vectors).T
            changes = changes.masked_fill(alike < wanted.row.similar, -torch.inf)
            top = changes.topk(min(wanted.row.k, len(vectors)), dim=1)
            best.append((top.values, top.indices + start))
        if not best:
            return n, torch.zeros(n, 0, dtype=torch.long), torch.zeros(n, 0)
        values, places = (torch.cat(parts, dim=1) for parts in zip(*best, strict=True))
        top = values.topk(min(wanted.row.k, values.shape[1]), dim=1)
        unseen = ~torch.tensor(seen, device=values.device)[:, None]  # words that the tokenizer does not see
        return n, places.gather(1, top.indices), sign * top.values.masked_fill(unseen, -torch.inf)

    def _vectors(self, model: HuggingFace, like: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The input embeddings of the usable words, portion by portion."""
        ids = torch.tensor(self.words(model.network)[0], device=like.device, dtype=torch.long)
        for start in range(0, len(ids), _PORTION):
            with torch.inference_mode(False), torch.no_grad():
                yield start, model.task.embedding(ids[None, start : start + _PORTION])[0].float()

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Candidates]:
        words = self.words(model.network)[1]
        return [_candidates(words, *row) for output in outputs for row in output]


def _candidates(vocabulary: Sequence[str], n: int, places: Tensor, changes: Tensor) -> Candidates:
    """The best of every word; what was ruled out is infinite and left out, what is NaN stays and becomes an error."""
    table = changes.double().cpu().numpy()
    out = np.isinf(table)
    rows = zip(places.cpu().tolist(), (~out).sum(axis=1).tolist(), strict=True)
    words = tuple(tuple(vocabulary[i] for i in row[:count]) for row, count in rows)
    return Candidates(words, np.where(out, 0.0, table))


def _first_pieces(piece: Any, word: Any, n: int) -> tuple[list[int], list[bool]]:
    """The first piece of every word; 0 for a word that has none."""
    first = {int(w): int(p) for p, w in zip(piece[::-1], word[::-1], strict=True)}
    return [first.get(w, 0) for w in range(n)], [w in first for w in range(n)]


def _means(embedded: Tensor, piece: Any, word: Any, n: int) -> Tensor:
    """The mean embedding of the pieces of every word."""
    to = torch.tensor(word, device=embedded.device)
    sums = embedded.new_zeros(n, embedded.shape[1]).index_add(0, to, embedded[torch.tensor(piece, device=to.device)])
    return sums / torch.bincount(to, minlength=n).clamp_min(1)[:, None].to(sums.dtype)


def _usable(network: Network) -> Iterator[tuple[int, str]]:
    """Tokens that are whole words of letters, each once however it is marked, and that the tokenizer reads back."""
    vocabulary, known = Vocabulary(network, len(network.tokenizer)), set[str]()
    tokens = torch.nonzero(vocabulary.whole_words)[:, 0].tolist()
    words = [vocabulary.word(token) for token in tokens]
    after = len(network.encoder.template(1).specials[1])
    inside = [ids[: len(ids) - after] for ids, _ in network.encoder.rows([(f"a {word}",) for word in words])]
    for token, word, ids in zip(tokens, words, inside, strict=True):
        if word.isalpha() and word not in known and len(ids) > 1 and ids[-1] == token and _one_word(word):
            known.add(word)
            yield token, word


def _one_word(letters: str) -> bool:
    """Whether an explanation takes the letters for one word: some scripts write several without a blank."""
    return letters.isascii() or len(Text.of(letters)) == 1
