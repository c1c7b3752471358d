"""Files of the user's under our names, links, devices, damage and a full disk: nothing is lost, one sentence each."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import tiny
import torch

from assay.errors import BadFile, BadInput, ModelNotLoaded
from assay.storage.files import write_named
from assay.storage.parts import PartsFolder
from assay.text import gradient_index
from assay.text.example import Example
from assay.text.gradient_index import GradientIndex, IndexHeader, IndexPart
from assay.training import checkpoints
from assay.training.editor import EditorTraining, train_editor
from assay.training.place import Place

HEADER = IndexHeader("model", ("a", "b"), 3, "digest", "head", 8, 0)
ROWS = [Example(str(i), (f"text {i}",), "ab"[i % 2], position=i) for i in range(3)]
TEXTS = ["a funny film about two dogs", "the plot was dull and slow", "two dogs run through the grass"] * 2


@contextmanager
def full_disk(bytes_left: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkey = pytest.MonkeyPatch()
    monkey.setattr(sys, "dont_write_bytecode", True)  # what Python cut short would break every import after
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        monkey.undo()


def index(place: Path) -> GradientIndex:
    gradient_index.begin(place, HEADER)
    part = IndexPart(ROWS, [row.strings for row in ROWS], np.full((3, 2), 0.5), np.ones((3, 8)))
    gradient_index.write_part(place, 0, part)
    return GradientIndex(place)


def read_whole(place: Path) -> tuple[int, float, float]:
    found = GradientIndex(place)
    return len(found.examples), float(np.concatenate(list(found.gradients())).sum()), float(found.chances.sum())


def test_a_file_that_the_user_named_is_written_through_a_link_and_into_a_pipe(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real.json", tmp_path / "link.json", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    write_named(link, "new")
    assert (link.is_symlink(), real.read_text()) == (True, "new")
    os.mkfifo(pipe)
    read: list[str] = []
    reader = Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_named(pipe, "told")
    reader.join()
    assert (read, pipe.is_fifo()) == (["told"], True)


def test_a_folder_of_parts_goes_without_what_the_user_put_there(tmp_path: Path) -> None:
    for name, left in (("empty", []), ("notes", ["notes.txt"])):
        folder = PartsFolder(tmp_path / name).require_same({"model": "m"})
        folder.put("biases", {"a": 1})
        if left:
            (folder.path / "notes.txt").write_text("mine")
        folder.remove(["biases", "attacks"])
        assert [one.name for one in folder.path.glob("*")] == left
        assert folder.path.exists() == bool(left)


def test_a_folder_of_parts_reads_no_link_and_no_other_settings(tmp_path: Path) -> None:
    folder = PartsFolder(tmp_path / "one").require_same({"model": "m"})
    (tmp_path / "mine.json").write_text("{}")
    (folder.path / "biases.json").symlink_to(tmp_path / "mine.json")
    with pytest.raises(BadInput, match="is a link"):
        folder.get("biases")
    (folder.path / "settings.json").write_text("[1]")
    with pytest.raises(BadInput, match="is no file of ours"):
        folder.require_same({"model": "m"})


def test_two_jobs_do_not_share_a_place(tmp_path: Path) -> None:
    """An audit and an editor wait for nobody: who comes second is told who is there, and finds the place afterwards."""
    parts = PartsFolder(tmp_path / "parts")
    how = EditorTraining(base=str(tmp_path / "none"))
    with parts.held({"model": "m"}), pytest.raises(BadInput, match="parts is in use by process"), parts.held({}):
        pass
    with parts.held({"model": "m"}) as again:
        again.put("biases", {})
    assert sorted(one.name for one in parts.path.iterdir()) == ["biases.json", "settings.json"]
    with Place(tmp_path / "editor").held(), pytest.raises(BadInput, match="editor is in use by process"):
        train_editor(TEXTS, ["a", "b", "c"] * 2, tmp_path / "editor", how)
    with pytest.raises(ModelNotLoaded):
        train_editor(TEXTS, ["a", "b", "c"] * 2, tmp_path / "editor", how)
    assert [one.name for one in tmp_path.iterdir()] == ["parts"]


def test_an_index_goes_into_no_directory_of_other_files(tmp_path: Path) -> None:
    mine, linked, listed = (tmp_path / name for name in ("mine", "linked", "listed"))
    for place in (mine, linked, listed):
        place.mkdir()
    (mine / "part-00000.jsonl").write_text("mine")
    (linked / "part-00000.jsonl").symlink_to(mine / "part-00000.jsonl")
    (listed / "index.json").write_text("[1]")
    for place, said in ((mine, "holds other files"), (linked, "is a link"), (listed, "no header of an index")):
        with pytest.raises(BadInput, match=said):
            index(place)
    assert (mine / "part-00000.jsonl").read_text() == "mine"


@pytest.mark.parametrize("name", ["part-00000.jsonl", "part-00000.safetensors"])
def test_a_reader_says_of_every_flipped_bit_of_an_index(tmp_path: Path, name: str) -> None:
    index(tmp_path)
    assert read_whole(tmp_path) == (3, 24, 3)
    path = tmp_path / name
    whole = path.read_bytes()
    for at in np.random.default_rng(0).integers(8 * len(whole), size=40).tolist():
        damaged = bytearray(whole)
        damaged[at // 8] ^= 1 << at % 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(BadFile, match=r"damaged|cannot be read"):
            read_whole(tmp_path)


def test_an_editor_leaves_files_beside_it_alone(tmp_path: Path) -> None:
    model, tokenizer = tiny.causal_lm()
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path / "base")
    (tmp_path / "editor.steps").write_text("of the stairs")
    how = EditorTraining(str(tmp_path / "base"), steps=1, batch=2, rank=0)
    train_editor(TEXTS, ["a", "b", "c"] * 2, tmp_path / "editor", how, progress=False)
    assert (tmp_path / "editor.steps").read_text() == "of the stairs"
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="is a link"):
        train_editor(TEXTS, ["a", "b", "c"] * 2, tmp_path / "link", how, progress=False)


def test_an_editor_starts_from_no_weights_that_nobody_trained(tmp_path: Path) -> None:
    model, tokenizer = tiny.llama()  # a classifier: its head is not that of a language model
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path / "base")
    with pytest.raises(ModelNotLoaded, match=r"weights are missing: lm_head.weight"):
        train_editor(TEXTS, ["a", "b", "c"] * 2, tmp_path / "e", EditorTraining(str(tmp_path / "base")), progress=False)


@pytest.mark.parametrize("bytes_left", [10, 700, 20_000])
def test_a_checkpoint_on_a_full_disk_is_one_sentence(tmp_path: Path, bytes_left: int) -> None:
    state = {"settings": {}, "model": {"w": torch.zeros(20_000)}}
    with full_disk(bytes_left), pytest.raises(BadFile, match=r"the checkpoint .* cannot be written: File too large"):
        checkpoints.save(tmp_path / "checkpoint", state)
    assert not list(tmp_path.glob(".*"))
