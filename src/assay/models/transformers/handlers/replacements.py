"""Replacements and VocabularyWords: whole words of the vocabulary, ranked by the gradient or drawn at random.

    change(i -> v) = e_v . g_first(i) - sum over the pieces p of word i of e_p . g_p          g = dF/de

All pairs of a word and a vocabulary entry are one matrix product, taken in portions of the vocabulary, for the words of
many texts at once, after the gradients of all batches; only the best k of every word leave the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.gradients import gradient_at, lines_of, widths_of
from assay.models.transformers.network import Network
from assay.models.transformers.paths import EncodedLine
from assay.models.transformers.tasks.vocabulary import Vocabulary
from assay.questions.gradients import GradientRow
from assay.questions.replacements import Candidates, DrawnWords, ReplacementRow, Unit, WordsRow
from assay.text.text import Text

_PORTION = 8192  # entries of the vocabulary that are compared at once
_WORDS = 1024  # words that are compared at once
_THREE = 3  # pieces of three characters, to a tokenizer of characters


@dataclass(slots=True)
class WantedReplacement:
    """A row of the question, and its text as a line of gradients with one point."""

    row: ReplacementRow
    line: EncodedLine

    def __len__(self) -> int:
        return len(self.line)


class _OfVocabulary:
    """The replacements that a network knows, found out once."""

    def __init__(self) -> None:
        self._network: Network | None = None
        self._known: dict[Unit, tuple[list[int], list[str]]] = {}

    def words(self, network: Network, unit: Unit = "words") -> tuple[list[int], list[str]]:
        """Ids and spellings of the usable words: letters only, and read back by the tokenizer as this one piece."""
        if self._network is not network:
            self._network, self._known = network, {}
        if unit not in self._known:
            found = list(_usable(network) if unit == "words" else _usable_characters(network))
            self._known[unit] = [i for i, _ in found], [word for _, word in found]
        return self._known[unit]


class VocabularyWordsHandler(_OfVocabulary, Handler[HuggingFace]):
    """Draws words; the model is not run."""

    def encode(self, model: HuggingFace, rows: Sequence[WordsRow]) -> Sequence[WordsRow]:
        return rows

    def answer(self, model: HuggingFace, batch: Sequence[WordsRow]) -> list[DrawnWords]:
        words = self.words(model.network)[1] or ["x"]  # a vocabulary without any whole word
        drawn = [np.random.default_rng(row.seed).integers(len(words), size=row.many) for row in batch]
        return [DrawnWords(tuple(words[i] for i in some.tolist())) for some in drawn]


@dataclass(frozen=True)
class WordGradients:
    """The words of a row: the gradient at the first piece of each, what the word itself gives, and what is asked."""

    signed: Tensor  # [words, size]; the other way round where the number shall fall
    base: Tensor  # [words]
    means: Tensor  # [words, size], the mean embedding of their pieces
    similar: Tensor  # [words]
    seen: Tensor  # [words]: whether the tokenizer sees the word
    sign: float
    unit: Unit

    @classmethod
    def of(
        cls, row: ReplacementRow, line: EncodedLine, gradient: Tensor, embedded: Tensor, dots: Tensor
    ) -> WordGradients:
        n, pieces, sign = len(row.text), line.pieces, 1.0 if row.up else -1.0
        first, seen = _first_pieces(pieces.piece, pieces.word, n)
        signed = sign * gradient[torch.tensor(first, device=gradient.device, dtype=torch.long)].float()
        means = _means(embedded, pieces.piece, pieces.word, n).float() if row.similar > -1 else torch.zeros_like(signed)
        similar = signed.new_full((n,), row.similar)
        return cls(signed, dots[:n].float(), means, similar, torch.tensor(seen, device=signed.device), sign, row.unit)

    def cpu(self) -> WordGradients:
        """The same, off the device."""
        signed, base, means = self.signed.cpu(), self.base.cpu(), self.means.cpu()
        return replace(self, signed=signed, base=base, means=means, similar=self.similar.cpu(), seen=self.seen.cpu())

    def changes(self, products: Tensor) -> Tensor:
        """What the best replacements change; words that the tokenizer does not see have none."""
        unseen = torch.where(self.seen, 0.0, torch.inf)[:, None]
        return self.sign * (products - self.sign * self.base[:, None] - unseen)


class ReplacementsHandler(_OfVocabulary, Handler[HuggingFace]):
    """One backward pass for each text, and one product with the embeddings of the vocabulary."""

    even = True

    def encode(self, model: HuggingFace, rows: Sequence[ReplacementRow]) -> list[WantedReplacement | AssayError]:
        lines = lines_of(model, [GradientRow(row.text, row.aim, "dot", None) for row in rows])
        pairs = zip(rows, lines, strict=True)
        return [line if isinstance(line, AssayError) else WantedReplacement(row, line) for row, line in pairs]

    def lengths(self, model: HuggingFace, encoded: Sequence[WantedReplacement]) -> list[int]:
        return widths_of(model, [wanted.line for wanted in encoded])

    def answer(self, model: HuggingFace, batch: Sequence[WantedReplacement]) -> list[tuple[int, WordGradients]]:
        """For each row what its words are compared by; on the CPU, as many rows may wait for their comparison."""
        points, _, gradient = gradient_at(model, [wanted.line for wanted in batch])
        dots = points.per_word(gradient)
        parts = zip(batch, gradient.detach(), points.way, dots.detach(), strict=True)
        return [(wanted.row.k, WordGradients.of(wanted.row, wanted.line, *own).cpu()) for wanted, *own in parts]

    def collect(self, model: HuggingFace, outputs: Sequence[Any]) -> list[Candidates]:
        """All words are compared with the vocabulary at once, or so many as fit: its vectors are looked up once."""
        rows = [row for output in outputs for row in output]
        with model.turn, model.quiet():
            return [one for part in _portions(rows) for one in self._compared(model, part)]

    def _compared(self, model: HuggingFace, rows: Sequence[tuple[int, WordGradients]]) -> Iterator[Candidates]:
        """For each row the best replacements of its words, and what they change."""
        values, places = self._best(model, [one for _, one in rows], max(k for k, _ in rows))
        sizes, words = [len(one.base) for _, one in rows], self.words(model.network, rows[0][1].unit)[1]
        for (k, one), best, at in zip(rows, torch.split(values, sizes), torch.split(places, sizes), strict=True):
            yield _candidates(words, at[:, :k], one.changes(best[:, :k]))

    def _best(self, model: HuggingFace, asked: Sequence[WordGradients], k: int) -> tuple[Tensor, Tensor]:
        """Of many words together: the largest products with the vocabulary, and where they are in it."""
        gradients = torch.cat([one.signed for one in asked]).to(model.device)
        least = torch.cat([one.similar for one in asked]).to(model.device)
        means = torch.nn.functional.normalize(torch.cat([one.means for one in asked]).to(model.device), dim=-1)
        values, places = gradients.new_zeros(len(gradients), 0), least.new_zeros(len(gradients), 0, dtype=torch.long)
        for start, vectors in self._vectors(model, asked[0].unit, gradients):
            products = gradients @ vectors.T
            if bool((least > -1).any()):
                alike = means @ torch.nn.functional.normalize(vectors).T
                products = products.masked_fill(alike < least[:, None], -torch.inf)
            top = products.topk(min(k, len(vectors)), dim=1)
            values = torch.cat([values, top.values], dim=1)
            places = torch.cat([places, top.indices + start], dim=1)
        top = values.topk(min(k, values.shape[1]), dim=1)
        return top.values.cpu(), places.gather(1, top.indices).cpu()

    def _vectors(self, model: HuggingFace, unit: Unit, like: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The input embeddings of the usable words, portion by portion."""
        ids = torch.tensor(self.words(model.network, unit)[0], device=like.device, dtype=torch.long)
        for start in range(0, len(ids), _PORTION):
            with torch.inference_mode(False), torch.no_grad():
                yield start, model.task.embedding(ids[None, start : start + _PORTION])[0].float()


def _portions(rows: Sequence[tuple[int, WordGradients]]) -> Iterator[Sequence[tuple[int, WordGradients]]]:
    """Rows with so many words together that their products with a part of the vocabulary fit into memory."""
    start = words = 0
    for i, (_, one) in enumerate(rows):
        if i > start and (words + len(one.base) > _WORDS or one.unit != rows[start][1].unit):
            yield rows[start:i]
            start, words = i, 0
        words += len(one.base)
    if rows:
        yield rows[start:]


def _candidates(vocabulary: Sequence[str], places: Tensor, changes: Tensor) -> Candidates:
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


def _usable_characters(network: Network) -> Iterator[tuple[int, str]]:
    """Tokens of one letter or digit that stand for it within a word; none where words are cut into longer pieces."""
    vocabulary, known = Vocabulary(network, len(network.tokenizer)), set[str]()
    found = [(token, vocabulary.word(token)) for token in range(len(network.tokenizer))]
    if any(len(string) > 1 and string.isalpha() for _, string in found):
        return
    single = [(token, sign) for token, sign in found if len(sign) == 1 and sign.isalnum()]
    template = network.encoder.template(1).specials
    before, after = map(len, template)
    rows = network.encoder.rows([(f"a{sign}a",) for _, sign in single]) if single else []
    for (token, sign), (ids, _) in zip(single, rows, strict=True):
        inside = ids[before : len(ids) - after]
        if len(inside) == _THREE and inside[1] == token and sign not in known:
            known.add(sign)
            yield token, sign


def _one_word(letters: str) -> bool:
    """Whether an explanation takes the letters for one word: some scripts write several without a blank."""
    return letters.isascii() or len(Text.of(letters)) == 1
