"""Reading a run: every explanation comes back as it was told; tables, SQL and verdicts say the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput
from assay.request import Aims
from assay.runs import schema
from assay.runs.query import query
from assay.runs.run import run
from assay.runs.schema import SCHEMA, Entry, explanation_of, table_of
from assay.text.example import Example
from run_toys import dataset, ran, request, shards

METHODS = ["leave_one_out", "random", "anchors"]
CHECKS = ["sufficiency", "comprehensiveness"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("store")
    path = dataset(place, 40)
    path.write_text(path.read_text() + 'k40,""\n')
    ran(path, place / "out", methods=METHODS[:2], checks=CHECKS)
    return place / "out"


@pytest.mark.parametrize("method", [*METHODS, "integrated_gradients", "gradient"])
def test_explanations_come_back_as_they_were_told(method: str) -> None:
    texts = [
        "a gripping , funny film",
        "東京タワーはとても高いです。",
        "x",
        "very " * 200 + "good",
        ("a man", "a person"),
    ]
    model, tokenizer = tiny.bert()
    for text in texts:
        one = assay.load((model, tokenizer))
        one.fields = ("premise", "hypothesis") if isinstance(text, tuple) else ("text",)
        told = assay.explain(one, text, method, engine=Engine(one), progress=False, seed=5)
        strings = text if isinstance(text, tuple) else (text,)
        entry = Entry(Example("k", strings, position=3), method, 5, told, None, told.about.cost)
        record = table_of([entry]).to_pylist()[0]
        back = explanation_of(record)
        assert back.to_dict() == told.to_dict()
        assert type(back) is type(told)
        assert (back.case, back.strings) == (told.case, told.strings)


def test_the_schema_is_what_the_shards_hold(done: Path) -> None:
    path = next(p for p in (done / "shards").iterdir())
    assert pq.read_schema(path).remove_metadata() == SCHEMA
    documented = schema.__doc__ or ""
    assert all(name in documented for name in SCHEMA.names)


def test_tables_hold_every_row_once_per_method(done: Path) -> None:
    held = assay.open(done)
    frame = held.to_pandas()
    assert held.done
    assert frame.groupby("method")["row"].apply(list).to_dict() == {name: list(range(41)) for name in METHODS[:2]}
    assert frame["id"].tolist()[::2] == [f"k{i}" for i in range(41)]
    assert (frame["status"] == "ok").sum() == 80
    assert held.to_arrow(["row", "status"]).num_rows == 82
    assert len(list(held.explanations())) == 80
    assert len(list(held.explanations("random"))) == 40
    with pytest.raises(BadInput, match="it has: leave_one_out, random"):
        next(held.explanations("lime"))


def test_verdicts_are_those_of_check(done: Path, tmp_path: Path) -> None:
    held = assay.open(done)
    found = {(v.method, v.check): v for v in held.verdicts()}
    assert len(found) == 4
    assert held.plan.settings["draws"] == 5
    model = assay.load("run_models:sentiment")
    for method in METHODS[:2]:
        told = list(held.explanations(method))
        for check in CHECKS:
            v = found[method, check]
            (one,) = assay.check(model, [e.strings[0] for e in told], [method], [check], draws=5, progress=False)
            assert v.scores == pytest.approx(one.scores, abs=1e-9)
            assert v.random_scores == pytest.approx(one.random_scores, abs=1e-9)
            assert v.random_scores.shape == (40, 5)
    assert any("same eraser" in warning for warning in found["leave_one_out", "sufficiency"].warnings)
    assert found["leave_one_out", "sufficiency"].better_than_random
    table = pq.read_table(done / "verdicts.parquet").to_pylist()
    assert {(row["method"], row["check_name"]): row["mean"] for row in table} == {k: v.mean for k, v in found.items()}


def test_sql(done: Path) -> None:
    pytest.importorskip("duckdb")
    held = assay.open(done)
    assert query(held, "select count(*) as n from explanations where status = 'ok'").to_pylist() == [{"n": 80}]
    words = query(
        held, "select method, row, list(word order by place) as words, sum(score) as total from words group by all"
    )
    by_hand = {(e.about.method, i): e for name in METHODS[:2] for i, e in enumerate(held.explanations(name))}
    assert words.num_rows == 80
    for record in words.to_pylist():
        e = by_hand[record["method"], record["row"]]
        assert record["words"] == list(e.words)
        assert record["total"] == pytest.approx(e.scores.sum())
    asked = query(held, "select check_name, avg(score) as mean from checks where method = 'random' group by 1")
    means = {record["check_name"]: record["mean"] for record in asked.to_pylist()}
    assert means == pytest.approx({v.check: v.mean for v in held.verdicts() if v.method == "random"})
    assert query(held, "select count(*) as n from verdicts").to_pylist() == [{"n": 4}]
    with pytest.raises(BadInput, match="DuckDB says"):
        query(held, "select nothing from nowhere")


def test_datasets_get_the_same_table(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(Dataset=lambda table: table))
    assert assay.open(done).to_datasets().equals(assay.open(done).to_arrow())
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(BadInput, match="pip install datasets"):
        assay.open(done).to_datasets()


def test_what_is_no_run_or_damaged_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="holds no run"):
        assay.open(tmp_path)
    ran(dataset(tmp_path), tmp_path / "out")
    next((tmp_path / "out" / "shards").iterdir()).write_bytes(b"junk")
    with pytest.raises(BadFile, match="run the same command again"):
        assay.open(tmp_path / "out").to_arrow()
    (tmp_path / "out" / "plan.json").write_text("{")
    with pytest.raises(BadFile, match="cannot be read as a plan"):
        assay.open(tmp_path / "out")


def test_a_pair_and_a_model_object(tmp_path: Path) -> None:
    path = dataset(tmp_path).with_name("pairs.jsonl")
    path.write_text("".join(json.dumps({"a": f"a man {i}", "b": "a person ."}) + "\n" for i in range(5)))
    model, tokenizer = tiny.bert()
    pairs = assay.load((model, tokenizer))
    pairs.fields = ("premise", "hypothesis")
    given = request(path, tmp_path / "out", model=pairs, columns={"column": "a", "pair_column": "b"}, shard_size=2)
    run(*given)
    told = list(assay.open(tmp_path / "out").explanations())
    assert [e.strings for e in told] == [(f"a man {i}", "a person .") for i in range(5)]
    with pytest.raises(BadInput, match="--pair-column"):
        run(*request(path, tmp_path / "other", model=pairs, columns={"column": "a"}))


def test_randomness_comes_from_the_seed_and_the_text_alone(tmp_path: Path) -> None:
    """As everywhere: neither the id nor the place of a row decides, and `explain` draws the same."""
    path = dataset(tmp_path).with_name("same.csv")
    path.write_text("id,text\na,good film here\nb,dull film\nc,good film here\n")
    ran(path, tmp_path / "one", methods=["random"])
    path.write_text("id,text\nx,dull film\na,good film here\n")
    ran(path, tmp_path / "two", methods=["random"])
    ran(path, tmp_path / "other", methods=["random"], aims=Aims(seed=1))
    one, two, other = (
        [tuple(e.scores) for e in assay.open(tmp_path / name).explanations()] for name in ("one", "two", "other")
    )
    assert one[0] == one[2] == two[1]
    assert one[1] == two[0]
    assert not {*two} & {*other}
    model = assay.load("run_models:sentiment")
    assert two == [tuple(assay.explain(model, text, "random").scores) for text in ("dull film", "good film here")]
    assert len(shards(tmp_path / "one")) == 1
