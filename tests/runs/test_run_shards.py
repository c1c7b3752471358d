"""Shards: whole or not at all; any byte that is flipped or cut is found."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from assay.runs.plan import RunPlan
from assay.runs.shard import BadShard, content_digest, number_of, packed, require_whole, write
from run_toys import dataset, ran, shards


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shards")
    ran(dataset(place, 30), place / "out", checks=["sufficiency"])
    return place / "out"


def whole(path: Path, plan: RunPlan) -> None:
    require_whole(path, plan.digest, plan.rows_of(number_of(path)))


@pytest.mark.parametrize("kind", ["flip", "cut", "grow"])
def test_every_damage_is_found(done: Path, tmp_path: Path, kind: str) -> None:
    """1,000 trials in all: 700 flipped bits, 200 cuts, 100 additions, anywhere in the file."""
    plan, rng = RunPlan.at(done), Random(7)
    name, data = next(iter(shards(done).items()))
    path = tmp_path / name
    path.write_bytes(data)
    whole(path, plan)
    for _ in range({"flip": 700, "cut": 200, "grow": 100}[kind]):
        at = rng.randrange(len(data))
        harmed = bytearray(data)
        if kind == "flip":
            harmed[at] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del harmed[at : at + rng.randint(1, 200)]
        else:
            harmed[at:at] = bytes([rng.randrange(256)])
        path.write_bytes(bytes(harmed))
        with pytest.raises(BadShard):
            whole(path, plan)


def test_the_digest_of_the_content_sees_values_nulls_and_shapes() -> None:
    kind = pa.list_(pa.float64())
    tables = [
        pa.table({"a": pa.array(values, kind)})
        for values in (
            [[1.0], [2.0]],
            [[1.0, 2.0], []],
            [[], [1.0, 2.0]],
            [None, [1.0, 2.0]],
            [[1.0], [-2.0]],
            [[0.0]],
            [[-0.0]],
        )
    ]
    assert len({content_digest(table) for table in tables}) == len(tables)
    assert content_digest(tables[0]) != content_digest(tables[0].rename_columns(["b"]))
    strings = [pa.table({"a": values}) for values in (["ab", "c"], ["a", "bc"], ["", "abc"], [None, "abc"])]
    assert len({content_digest(table) for table in strings}) == 4


def test_the_digest_of_the_content_does_not_see_the_packing() -> None:
    table = pa.table({"a": pa.array([["x"], None, ["y", "z"]]), "b": [1.5, None, 2.5]})
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert content_digest(pieces) == content_digest(table)
    assert content_digest(table.slice(1)) == content_digest(pa.concat_tables([table.slice(1, 1), table.slice(2)]))


def test_a_shard_under_another_plan_or_number_does_not_count(done: Path, tmp_path: Path) -> None:
    table = pa.table({"row": [0, 1]})
    data = packed(table, 3, 2, "plan")
    path = write(tmp_path, 3, data)
    assert require_whole(path, "plan", range(2), deep=True).rows == 2
    for plan, rows in (("other", range(2)), ("plan", range(3))):
        with pytest.raises(BadShard):
            require_whole(path, plan, rows)
    moved = path.rename(path.with_name(path.name.replace("00003", "00004")))
    with pytest.raises(BadShard, match="shard 3"):
        require_whole(moved, "plan", range(2))
    with pytest.raises(BadShard, match="content"):
        require_whole(write(tmp_path, 3, data), "plan", range(5, 7), deep=True)


def test_nothing_is_seen_under_a_name_before_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, 0, b"data")
    assert list(tmp_path.iterdir()) == []
