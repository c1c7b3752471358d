"""What writer:editor learns from: labels, pairs, and edits with their codes."""

import json
import lzma
from itertools import combinations
from pathlib import Path

import card
import coded_pairs
import editor
import editor_rows
import near_sentences
import numpy as np
import pytest
import writing
from assay.text.control_codes import detected_code
from assay.text.text import Text
from test_recipes import PAIRS, options_for, tiny_writer


def test_reviews_are_learned_from_where_they_are_long_enough() -> None:
    ((prompt, answer),) = editor_rows.reviews([(("a b c d",), 0), (("a b c d e f g h",), 1)], 0)
    assert prompt.startswith("positive: ")
    assert set(answer) <= set(" |abcdefgh")


def test_of_a_pair_the_other_text_stands_whole_on_its_own_side() -> None:
    pair = ("a dog runs on grass", "the dog is not asleep")
    prompts = [prompt for prompt, _ in editor_rows.of_pairs([(pair, 2)] * 8, 0)]
    assert all(prompt.startswith("contradiction: ") and prompt.endswith("\nfills:") for prompt in prompts)
    sides = [prompt.removeprefix("contradiction: ").removesuffix("\nfills:").split(" | ") for prompt in prompts]
    assert [tuple("[BLANK]" in side for side in one) for one in sides] == [(True, False), *[(False, True)] * 3] * 2
    assert all(pair[i] == side for one in sides for i, side in enumerate(one) if "[BLANK]" not in side)


def test_neighbours_are_the_pairs_that_differ_in_one_place() -> None:
    rng = np.random.default_rng(0)
    drawn = [" ".join(rng.choice(["a", "b", "c", "d", "e"], rng.integers(4, 8))) for _ in range(60)]
    sentences = sorted(set(drawn))
    found = {frozenset(pair) for pair in near_sentences.near_pairs(sentences, 0)}
    near = {frozenset(pair) for pair in combinations(sentences, 2) if differ_in_one_place(*map(str.split, pair))}
    assert found <= near
    assert len(found) > len(near) / 3  # of a large group some pairs are taken


def differ_in_one_place(one: list[str], two: list[str]) -> bool:
    """Whether both have the same words on the left and on the right of at most four of their own."""
    short = min(len(one), len(two))
    left = next((i for i in range(short) if one[i] != two[i]), short)
    right = next((i for i in range(short - left) if one[-1 - i] != two[-1 - i]), short - left)
    return left + right >= 3 and max(len(one), len(two)) - left - right <= 4


def test_pairs_that_a_rule_makes_have_the_code_of_the_rule() -> None:
    rng = np.random.default_rng(0)
    ((one, two),) = coded_pairs.negated("the man is on the roof", rng)
    assert two in ("the man is not on the roof", "the man is never on the roof")
    assert detected_code(one.split(), two.split()) == "negation"
    assert not list(coded_pairs.negated("the man sleeps", rng))
    ((one, two),) = coded_pairs.recounted("Two dogs run in the snow .", rng)
    assert detected_code(one.split(), two.split()) == "quantifier"
    assert two.endswith("dogs run in the snow .")
    assert two[0].isupper()
    for _ in range(10):
        for short, long in coded_pairs.with_a_phrase_more("the man with a hat is on the roof of a house .", rng):
            assert detected_code(Text.of(short).words, Text.of(long).words) == "insert"


def test_a_file_of_rows_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = {part: [(f"{part}\nfills:", " a | é")] for part in (editor_rows.TRAIN, *editor_rows.PARTS)}
    path = tmp_path / editor_rows.FILE
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(editor_rows.written(rows))
    assert editor_rows.editor_rows(path) == rows
    assert editor.TASK.train(path) == rows[editor_rows.TRAIN]
    assert [part(path) for part in editor.TASK.parts.values()] == [rows[part] for part in editor_rows.PARTS]
    assert json.loads(next(editor_rows.written(rows)))[0] == "train"


def test_the_recipe_trains_packs_and_scores_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_writer(monkeypatch)
    rows = dict.fromkeys((editor_rows.TRAIN, *editor_rows.PARTS), PAIRS * 6)
    path = tmp_path / editor_rows.FILE
    with lzma.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(editor_rows.written(rows))
    out = tmp_path / "out"
    out.mkdir()
    writing.run(editor.TASK, options_for(out, data=path, quick=True))
    facts = card.read(out, "writer:editor")
    assert facts["data"][0][1] == 24
    assert set(facts["metrics"]) == {one for part in editor_rows.PARTS for one in (part, f"{part}, the base")}
    assert (out / "writer_editor.safetensors").is_file()
