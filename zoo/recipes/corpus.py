"""The text that the masked language model reads, as tokens: one long stream and single rows, nothing held out.

Wikipedia and IMDb train reviews are cut into sentences; a sentence of SST dev or test is left out wherever it stands.
The stream is read in windows; the sentences, with SST train, movie snippets and NLI pairs, are read one by one. Half of
the reviews are spelled as the treebank spells ("does n't"), since people will ask about both.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import clean
import data as read
import numpy as np
from encoder import CLS, SEP
from numpy.typing import NDArray
from tokenizers import Tokenizer

from assay_zoo.heldout import normalise, position

Ids = NDArray[np.uint16]
Coded = tuple[Ids, NDArray[np.int64]]
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+")
EVAL_SHARE = 0.002
SHORTEST, BUCKETS = 6, (32, 64)
WEIGHTS = {"sst": 6, "snippets": 6, "pairs": 2}


@dataclass(frozen=True)
class Corpus:
    """A stream in which [SEP] parts the documents, and by width the padded rows from [CLS] to [SEP]."""

    stream: Ids
    rows: dict[int, Ids]
    counts: dict[str, int]


def build(data: Path, tokenizer: Tokenizer, *, limit: int | None) -> Corpus:
    """Read, clean and tokenise everything, on all cores."""
    documents = {"wikipedia": training_paragraphs(data)[:limit], "imdb": respelled(read.imdb_train(data)[:limit])}
    singles = {name: short_texts(data, name)[:limit] for name in WEIGHTS}
    ids, lengths = tokenised([text for texts in documents.values() for text in texts], tokenizer, held_keys(data))
    loose = [one.ids for name, texts in singles.items() for one in tokenizer.encode_batch(texts) * WEIGHTS[name]]
    rows = {width: np.concatenate([cut(ids, lengths, width), stacked(loose, width)]) for width in BUCKETS}
    counts = {name: len(texts) for name, texts in (documents | singles).items()}
    return Corpus(ids, rows, counts | {"tokens in the stream": len(ids)} | row_counts(rows))


def row_counts(rows: dict[int, Ids]) -> dict[str, int]:
    """How many rows of each width there are, repeats counted."""
    return {f"rows of up to {width} tokens": len(matrix) for width, matrix in rows.items()}


def training_paragraphs(data: Path) -> list[str]:
    """Wikipedia without the paragraphs kept for scoring."""
    return [text for text in read.wikipedia(data) if position(text) >= EVAL_SHARE]


def scoring_paragraphs(data: Path) -> list[str]:
    """The Wikipedia paragraphs that the model never reads."""
    return [text for text in read.wikipedia(data) if position(text) < EVAL_SHARE]


def respelled(reviews: list[str]) -> list[str]:
    """Every second review with the contractions of the treebank."""
    return [re.sub(r"n't\b", " n't", text) if i % 2 else text for i, text in enumerate(reviews)]


def held_keys(data: Path) -> frozenset[str]:
    """The held-out sentences, as they are compared."""
    return frozenset(map(normalise, clean.heldout_sst(data)))


def short_texts(data: Path, name: str) -> list[str] | list[tuple[str, ...]]:
    """Single sentences and pairs, cleaned."""
    held = clean.heldout_sst(data)
    if name == "pairs":
        return clean.snli_for_reading(data)
    if name == "sst":
        return list(filter(clean.not_equal_to(held), [text for text, _ in read.sst_trees(data, "train")]))
    return list(filter(clean.shares_no_run_with(held), filter(clean.not_equal_to(held), read.subjectivity(data))))


def tokenised(documents: Sequence[str], tokenizer: Tokenizer, held: frozenset[str]) -> Coded:
    """All sentences in a row, with [SEP] as a sentence of its own after each document; and their lengths."""
    size = max(1, len(documents) // 200)
    chunks = [documents[i : i + size] for i in range(0, len(documents), size)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(partial(encode_chunk, tokenizer, held), chunks))
    return np.concatenate([ids for ids, _ in parts]), np.concatenate([lengths for _, lengths in parts])


def encode_chunk(tokenizer: Tokenizer, held: frozenset[str], documents: Sequence[str]) -> Coded:
    """One process's share of the tokenising."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sentences = [one for text in documents for one in [*sentences_of(text, held), "[SEP]"]]
    coded = [encoding.ids for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False)]
    return np.array([token for one in coded for token in one], np.uint16), np.array([len(one) for one in coded])


def sentences_of(text: str, held: frozenset[str]) -> list[str]:
    """The sentences of a document that are not held out."""
    return [one for one in END_OF_SENTENCE.split(text) if normalise(one) not in held]


def cut(ids: Ids, lengths: NDArray[np.int64], width: int) -> Ids:
    """The sentences that fit `width` and no smaller bucket, as padded rows."""
    starts = np.cumsum(lengths) - lengths
    chosen = in_bucket(lengths + 2, width)
    places = np.arange(width - 2)
    inside = places < lengths[chosen, None]
    rows = np.zeros((int(chosen.sum()), width), np.uint16)
    rows[:, 1:-1] = np.where(inside, ids[np.minimum(starts[chosen, None] + places, len(ids) - 1)], 0)
    rows[:, 0] = CLS
    rows[np.arange(len(rows)), lengths[chosen] + 1] = SEP
    return rows


def in_bucket(lengths: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
    """Which lengths belong to the bucket of a width."""
    smaller = max([bucket for bucket in BUCKETS if bucket < width], default=SHORTEST - 1)
    return (lengths > smaller) & (lengths <= width)


def stacked(rows: list[list[int]], width: int) -> Ids:
    """Finished rows of one bucket as a padded matrix."""
    chosen = [row for row, fits in zip(rows, in_bucket(np.array(list(map(len, rows))), width), strict=True) if fits]
    return np.array([row + [0] * (width - len(row)) for row in chosen], np.uint16).reshape(-1, width)
