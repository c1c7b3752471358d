"""Rows and pieces, for every family of tokenizer: the tokenizer's own ids, and words own their pieces."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.errors import Unanswerable
from assay.models.transformers.tokens import Encoder
from assay.text.text import Row, Text

FAMILIES = sorted(tiny.FAMILIES)
BY_CHUNKS = {
    *("bert", "bert_cased", "distilbert", "words", "words_punctuation"),
    *("roberta", "roberta_prefix", "gpt2", "xlm_roberta", "deberta", "albert"),
}
NOT_BY_CHUNKS = {"split_regex"}
WARM: Row = ("a warm up",)

family = pytest.mark.parametrize("name", FAMILIES)


@cache
def own(name: str) -> Any:
    """A copy of the tokenizer, whose settings our own calls may change."""
    return deepcopy(tiny.FAMILIES[name]()[1])


def encoder(name: str, size: int = tiny.WINDOW, chunks: bool = True) -> Encoder:
    made = Encoder(tiny.FAMILIES[name]()[1], size)
    made.by_chunks = made.by_chunks and chunks
    return made


def told_by_tokenizer(name: str, row: Row, size: int = tiny.WINDOW) -> tuple[list[int], list[int]]:
    """In a batch of one: alone, transformers takes an empty second text for none at all."""
    told = own(name)(*([string] for string in row), truncation=True, max_length=size)
    (ids,) = told["input_ids"]
    (types,) = told.get("token_type_ids", [[0] * len(ids)])
    return ids, types


def ours(encoded: tuple[list[int], list[int] | None]) -> tuple[list[int], list[int]]:
    ids, types = encoded
    return ids, types or [0] * len(ids)


def same(name: str, rows: list[Row], chunks: bool, size: int = tiny.WINDOW) -> None:
    """The first row is checked by the encoder itself, so a harmless one goes before."""
    made = encoder(name, size, chunks)
    first = WARM if len(rows[0]) == 1 else WARM * 2
    for row, encoded in zip(rows, made.rows([first, *rows])[1:], strict=True):
        assert ours(encoded) == told_by_tokenizer(name, row, size), row


def test_which_tokenizers_are_read_chunk_by_chunk() -> None:
    assert {name for name in FAMILIES if encoder(name).by_chunks} == BY_CHUNKS
    assert set(FAMILIES) == BY_CHUNKS | NOT_BY_CHUNKS


def variants(name: str) -> list[Row]:
    """Sentences of the corpus with words deleted and masked at random."""
    rng, mask = np.random.default_rng(5), own(name).mask_token or "_"
    rows = []
    for line in tiny.CORPUS:
        text = Text.of(line)
        for _ in range(4):
            keep = rng.random(len(text)) < 0.7
            rows += [
                text.keep(keep).strings,
                text.row([w if k else mask for w, k in zip(text.words, keep, strict=True)]),
            ]
    return rows


@family
@pytest.mark.parametrize("chunks", [True, False])
def test_rows_of_the_corpus(name: str, chunks: bool) -> None:
    rows = variants(name)
    same(name, rows, chunks)
    same(name, [(*a, *b) for a, b in zip(rows, rows[3:], strict=False)], chunks)


@family
@pytest.mark.parametrize(("lead", "tail"), [("", " "), (" ", ""), ("  ", "   "), ("\n", " "), (" ", "\t")])
def test_rows_with_blanks_around_them(name: str, lead: str, tail: str) -> None:
    rows: list[Row] = [(f"{lead}{row[0]}{tail}",) for row in variants(name)]
    same(name, rows, chunks=True)
    same(name, [(*a, *b) for a, b in zip(rows, variants(name), strict=True)], chunks=True)


def test_a_blank_at_the_end_is_no_reason_to_ask_the_tokenizer_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = encoder("bert")
    plain = [row for (row,) in variants("bert") if row and row.split(" ") == row.split()]
    rows: list[Row] = [(f"{row} ",) for row in plain]
    made.rows(rows)
    asked: list[str] = []
    for name in ("_own", "_with_offsets"):
        way = getattr(Encoder, name)
        monkeypatch.setattr(Encoder, name, lambda self, string, way=way: [asked.append(string), way(self, string)][1])
    made.rows(rows)
    assert asked == [rows[0][0]]  # the first row of every call is compared


SIGNS = (
    *(
        "a",
        " ",
        "film",
        "'s",
        ".",
        ",",
        "\t",
        "\n",
        "\u00a0",
        "\u3000",
        "é",
        "e\u0301",
        "東",
        "京",
        "ß",
        "İ",
        "🙂",
        "👍🏽",
        "12",
    ),
    *(
        "[MASK]",
        "<mask>",
        "</s>",
        "[UNK]",
        "_",
        "ﬁ",
        "½",
        "\u200b",
        "\ufffd",
        "\x00",
        "Σ",
        "ς",
        "``",
        "''",
        "▁",
        "##ing",
    ),
    *("Ġ", " the", "don't", "\u0301", "﷽"),
)
made_of_signs = st.lists(st.sampled_from(SIGNS), max_size=14).map("".join)
strings = made_of_signs | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@family
@settings(max_examples=80)
@given(st.lists(strings, min_size=1, max_size=4))
def test_rows_of_any_string(name: str, drawn: list[str]) -> None:
    same(name, [(string,) for string in drawn], chunks=True)
    same(name, [(string,) for string in drawn], chunks=False)
    same(name, list(zip(drawn, reversed(drawn), strict=True)), chunks=True)


@pytest.mark.parametrize("name", ["roberta", "roberta_prefix", "xlm_roberta"])
@pytest.mark.parametrize("gap", ["\t ", "\n ", "\u00a0 ", " \n "])
def test_a_mask_that_swallows_the_white_space_before_it(name: str, gap: str) -> None:
    same(name, [(f"good{gap}<mask> film",), (f"good{gap}<mask>",)], chunks=True)


@family
@settings(max_examples=25)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(8, 24))
def test_truncation_is_the_tokenizers_own(name: str, first: int, second: int, size: int) -> None:
    one, two = ("a dull film , " * 9).split()[:first], ("two dogs run far " * 9).split()[:second]
    for chunks in (True, False):
        same(name, [(" ".join(one),)], chunks, size)
        same(name, [(" ".join(one), " ".join(two))], chunks, size)


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_single_texts_and_pairs_side_by_side(name: str) -> None:
    rows: list[Row] = [("a film",), ("a film", "a dog"), ("dogs",)]
    assert [ours(row) for row in encoder(name).rows(rows)] == [told_by_tokenizer(name, row) for row in rows]


def test_a_tokenizer_in_python() -> None:
    tokenizer = tiny.slow()[1]
    made = Encoder(tokenizer, 12)
    assert not made.has_offsets
    assert not made.by_chunks
    assert made.rows([("a funny film",)])[0][0] == deepcopy(tokenizer)("a funny film")["input_ids"]
    assert made.clip(Text.of("a funny film")) == Text.of("a funny film")
    with pytest.raises(Unanswerable, match="beyond the window"):
        made.clip(Text.of("film " * 20))


def slow_owners(name: str, text: Text, size: int) -> dict[tuple[int, int], float]:
    """(piece, word) -> share, from the tokenizer's own answer to the whole row."""
    row = ([string] for string in text.strings)
    told = own(name)(*row, truncation=True, max_length=size, return_offsets_mapping=True)
    found: dict[tuple[int, int], float] = {}
    for piece, (field, (start, end)) in enumerate(zip(told.sequence_ids(0), told["offset_mapping"][0], strict=True)):
        where = None if field is None else text.fields[field].name
        over = [w for w, (a, b) in enumerate(text.spans) if text.where[w] == where and a < end and start < b]
        found |= {(piece, w): 1 / len(over) for w in over}
    return found


def owners(name: str, text: Text, size: int) -> dict[tuple[int, int], float]:
    pieces = encoder(name, size).pieces(text)
    links = zip(pieces.piece.tolist(), pieces.word.tolist(), pieces.share.tolist(), strict=True)
    return {(piece, word): share for piece, word, share in links}


TEXTS: list[Any] = [
    "a gripping, funny film: the film of the year",
    "naïve café 東京 isn't   it?",
    ("a man plays a guitar", "a man sleeps"),
    ("the film the film", "the film"),
    ("a film 🙂👍🏽", "\u200bx \u00a0 y"),
    ("", "only one"),
]


@family
@pytest.mark.parametrize("source", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("size", [tiny.WINDOW, 12])
def test_owners(name: str, source: Any, size: int) -> None:
    focuses = [None, ["premise"], ["hypothesis"]] if isinstance(source, tuple) else [None]
    for focus in focuses:
        text = Text.of(source, focus=focus)
        expected = slow_owners(name, text, size)
        assert owners(name, text, size) == pytest.approx(expected)
        pieces = encoder(name, size).pieces(text)
        assert (pieces.ids, pieces.types or [0] * len(pieces)) == told_by_tokenizer(name, text.strings, size)


@family
@settings(max_examples=40)
@given(strings, strings)
def test_owners_of_any_string(name: str, one: str, two: str) -> None:
    for text in (Text.of(one), Text.of((one, two)), Text.of((one, two), focus=["hypothesis"])):
        found = owners(name, text, tiny.WINDOW)
        assert found == pytest.approx(slow_owners(name, text, tiny.WINDOW))
        for piece in {piece for piece, _ in found}:
            assert sum(share for (p, _), share in found.items() if p == piece) == pytest.approx(1)


@family
def test_every_word_of_a_sentence_owns_a_piece(name: str) -> None:
    text = Text.of(("a gripping, funny film", "the film isn't funny"))
    assert {word for _, word in owners(name, text, tiny.WINDOW)} == set(range(len(text)))


def test_a_piece_over_two_words_is_shared() -> None:
    """Split at white space, "film!" is one piece and two words."""
    found = owners("words", Text.of("a film!"), tiny.WINDOW)
    assert found == {(1, 0): 1.0, (2, 1): 0.5, (2, 2): 0.5}


def slow_seen(name: str, text: Text, size: int) -> list[int]:
    """The words all of whose pieces are within the window."""
    cut, whole = slow_owners(name, text, size), slow_owners(name, text, 10_000)
    count = [sum(w == word for _, w in cut) for word in range(len(text))]
    return [w for w in range(len(text)) if count[w] == sum(x == w for _, x in whole)]


LONG: list[Any] = [
    "unwatchable rubbish from beginning to end, " * 9,
    ("A man in a red shirt is playing a guitar. " * 5, "Nobody is playing music outside. " * 5),
    ("short", "Two dogs run through the tall grass. " * 12),
    "東京タワーはとても高いです" * 9,
    "naïve crème brûlée 👍🏽 " * 12,
]


@family
@pytest.mark.parametrize("source", LONG, ids=range(len(LONG)))
def test_clip_names_the_words_beyond_the_window(name: str, source: Any) -> None:
    text, made = Text.of(source), encoder(name, 24)
    seen = slow_seen(name, text, 24)
    clipped = made.clip(text)
    expected = [(text.where[w], text.spans[w]) for w in seen]
    assert list(zip(clipped.where, clipped.spans, strict=True)) == expected
    assert all(whole.string.startswith(part.string) for whole, part in zip(text.fields, clipped.fields, strict=True))
    assert len(own(name)(*clipped.strings)["input_ids"]) <= 24


@family
def test_of_a_first_sentence_beyond_the_window_its_beginning_is_explained(name: str) -> None:
    """Else a review without a full stop could not be explained by sentences at all."""
    string = " and the dull film goes on" * 40 + ". It ends."
    clipped = encoder(name, 24).clip(Text.of(string, split="sentences"))
    ((start, end),) = clipped.spans
    assert string[end] == " "
    assert clipped.words == (string[start:end],)
    assert 12 < len(own(name)(*clipped.strings)["input_ids"]) <= 24
    told = assay.explain(assay.load(tiny.FAMILIES[name]()), string, "random", split="sentences")
    assert told.truncated
    assert len(told.scores) == 1


@pytest.mark.parametrize("name", ["roberta", "gpt2", "deberta"])
def test_few_characters_of_many_pieces_are_no_silent_cut(name: str) -> None:
    string = "東京は高い映画好" * 5
    pieces = len(own(name)(string)["input_ids"])
    assert len(string) < tiny.WINDOW
    told = assay.explain(assay.load(tiny.FAMILIES[name]()), string, "random")
    assert told.truncated == (pieces > tiny.WINDOW)


@family
def test_explanations_say_what_was_not_seen(name: str) -> None:
    text = Text.of("a dull film , really " * 40)
    told = assay.explain(assay.load(tiny.FAMILIES[name]()), text, "random")
    seen = slow_seen(name, text, tiny.WINDOW)
    assert told.truncated
    assert told.spans == tuple(text.spans[w] for w in seen)
    assert told.unseen == tuple(span for w, span in enumerate(text.spans) if w not in seen)


def test_a_cut_in_the_field_out_of_focus_is_said() -> None:
    model = assay.load(tiny.bert())
    told = assay.explain(model, ("a dull film " * 60, "a dog"), "random", focus=["hypothesis"])
    assert told.words == ("a", "dog")
    assert told.truncated or told.warnings


@family
def test_the_window_is_the_models_own(name: str) -> None:
    adapter: Any = assay.load(tiny.FAMILIES[name]())
    assert adapter.encoder.window == tiny.WINDOW
