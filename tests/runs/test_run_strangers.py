"""What a stranger may give to `assay run`: a result or one clear line, no traceback, and nothing is left behind."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from run_toys import shards

Run = Callable[..., tuple[int, str, str]]
USUAL = ("--model", "run_models:sentiment", "-m", "leave_one_out", "--threads", "1", "-q", "--out", "out")


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


WHOLE = _parquet(pa.table({"text": ["good film"] * 2000}))
REFUSED = {
    "empty.csv": (b"", "empty.csv holds no row that can be read."),
    "blank.csv": (b"\n\n", "blank.csv holds no row that can be read."),
    "empty.jsonl": (b"", "empty.jsonl holds no row that can be read."),
    "empty.txt": (b"", "empty.txt holds no rows."),
    "empty.csv.gz": (b"", "empty.csv.gz holds no row that can be read."),
    "empty.parquet": (b"", "empty.parquet is not a parquet file that can be read"),
    "header.csv": (b"text\n", "header.csv holds no rows."),
    "rowless.parquet": (_parquet(pa.table({"text": pa.array([], pa.string())})), "rowless.parquet holds no rows."),
    "twice.csv": (b"text,text\na,b\n", "twice.csv has more than one column 'text'; rename all but one."),
    "other.csv": (b"id;text\n1;good, film\n", "other.csv seems to be delimited by ';'"),
    "quote.csv": (
        b'text\ngood\n"bad\nfine\n',
        "quote.csv is damaged or cut short (a quote at or after line 3 is never",
    ),
    "title.csv": (b'"text\ngood\n', "title.csv is damaged or cut short (unexpected end of data)"),
    "cut.parquet": (WHOLE[: len(WHOLE) // 2], "cut.parquet is not a parquet file that can be read"),
    "cut.csv.gz": (gzip.compress(b"text\n" + b"good film\n" * 500)[:-20], "cut.csv.gz is damaged or cut short"),
    "plain.csv.gz": (b"text\ngood\n", "plain.csv.gz cannot be read: Not a gzipped file"),
    "bad.jsonl": (b"{\n[\n", "bad.jsonl holds no row that can be read: line 1 is not JSON"),
}


def refused(answer: tuple[int, str, str], said: str) -> None:
    code, out, err = answer
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_used_is_one_line_and_leaves_nothing(assay_: Run, tmp_path: Path, name: str) -> None:
    data, said = REFUSED[name]
    (tmp_path / name).write_bytes(data)
    refused(assay_("run", name, *USUAL), said)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rows.csv", "--format", "blah"), "no format is called 'blah'"),
        (("rows.csv", "--target", "happy"), "no label is called 'happy'"),
        (("rows.csv", "--label-column", "gold"), "no column 'gold'"),
        (("rows.csv", "-m", "anchors", "-c", "sufficiency"), "sufficiency reads TokenScores, but anchors"),
        (("rows.csv", "-m", "gradient"), "gradient asks for InputGradient"),
        (("rows.csv", "--model", "nothing:there"), "nothing:there cannot be imported"),
        (("rows.csv", "-p", "foo=1"), "no parameter of leave_one_out is called 'foo'"),
        (("/dev/null",), "/dev/null is no plain file"),
        (("-",), "there is no text to read on stdin"),
        (("rows.csv", "--out", "rows.csv"), "rows.csv is a file, and --out takes a directory"),
        (("rows.csv", "--out", "rows.csv/below"), "cannot be used for a run: Not a directory"),
    ],
)
def test_a_command_that_cannot_work_leaves_nothing(
    assay_: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    refused(assay_("run", *USUAL, *arguments), said)
    assert {path: path.is_file() and path.read_bytes() for path in before} == before
    assert not (tmp_path / "out").exists()


def test_a_directory_that_was_there_stays_as_it_was(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    refused(assay_("run", "-", "--format", "jsonl", *USUAL, stdin=b"{}\n"), "holds no row")
    assert list((tmp_path / "out").iterdir()) == []
    assert assay_("run", "-", "--format", "jsonl", *USUAL, stdin=b'"good"\n')[0] == 0


def test_no_stdin_at_all(assay_: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from assay.errors import BadInput
    from assay.runs import source

    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BadInput, match="no text to read"):
        source.find("-", tmp_path)


def test_ragged_lines_are_errors_of_their_own_rows(assay_: Run, tmp_path: Path) -> None:
    """A comma that was not quoted would cut the text in two; a quote too many would change it. Nobody would know."""
    lines = ["id,text", "0,good film", "1", "2,good, but long", "3,fine,,", '4,"so" so', "5,ok then"]
    (tmp_path / "ragged.csv").write_text("\n".join(lines) + "\n")
    line = ("run", "ragged.csv", *USUAL, "--id-column", "id", "--column", "text")
    refused(assay_(*line), "3 of 6 explanations failed")
    table = assay.open(tmp_path / "out").to_arrow().to_pydict()
    assert table["text"] == ["good film", None, None, "fine", None, "ok then"]
    assert table["status"] == ["ok", "unreadable", "unreadable", "ok", "unreadable", "ok"]
    assert "line 4 has more fields than there are columns" in table["message"][2]
    assert "line 6 cannot be read" in table["message"][4]
    assert assay_(*line, "--max-error-rate", "0.5") == (0, "", "")


def test_odd_and_equal_ids(assay_: Run, tmp_path: Path) -> None:
    ids = ["a/../b", "x\ny", "", "\u2028\x1b[31m<b>", "same", "same", "\ud800"]
    lines = [json.dumps({"id": one, "text": "a good film"}) for one in ids]
    (tmp_path / "odd.jsonl").write_text("\n".join(lines) + "\n")
    assert assay_("run", "odd.jsonl", "--id-column", "id", *USUAL)[0] == 0
    frame = assay.open(tmp_path / "out").to_pandas()
    assert frame["row"].tolist() == list(range(7))
    assert frame["id"].tolist()[:6] == [*ids[:2], "2", *ids[3:6]]
    assert frame["seed"].nunique() == 1  # randomness comes from the seed of the run and the text
    assert assay_("report", "out", "--html", "page.html")[0] == 0
    pytest.importorskip("duckdb")
    code, out, _ = assay_("query", "out", "select id from explanations")
    assert code == 0
    assert "\x1b" not in out


def test_labels_that_the_model_does_not_know_are_told(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("text,gold\ngood film,happy\nbad film,\nfine,1\nawful mess,0\ndull,sad\n")
    assert assay_("run", "gold.csv", "--label-column", "gold", "--column", "text", *USUAL)[0] == 0
    table = assay.open(tmp_path / "out").to_arrow().to_pydict()
    assert table["label"] == ["happy", None, "1", "0", "sad"]
    right = sum(label == told for label, told in zip(table["label"], table["predicted"], strict=True)) / 2
    assert assay_("report", "out", "--html", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert f"the model agrees with {right:.1%} of 2 labels" in page
    assert "2 labels unknown to the model, such as &#39;happy&#39;" in page


def test_a_plan_that_cannot_be_read_is_made_anew(assay_: Run, tmp_path: Path) -> None:
    line = ("run", "rows.csv", "--column", "text", *USUAL)
    assert assay_(*line)[0] == 0
    before, plan = shards(tmp_path / "out"), (tmp_path / "out" / "plan.json")
    plan.write_text("{")
    refused(assay_(*line), "delete it, and the same command makes it again")
    plan.unlink()
    assert assay_(*line)[0] == 0
    assert shards(tmp_path / "out") == before
    kept = (tmp_path / "out" / "journal.jsonl").read_text().count('"handed out"')
    assert kept == len(before)


def test_the_command_to_go_on_is_one_line(assay_: Run, tmp_path: Path) -> None:
    (tmp_path / "meddle.py").write_text("raise KeyboardInterrupt")
    line = ("run", "rows.csv", "--column", "text", *USUAL, "--model", "run_models:meddled", "--shard-size", "10")
    assert assay_(*line)[0] == 130
    code, out, _ = assay_("status", "out")
    assert code == 0
    assert out.splitlines()[-1] == f"to go on: assay {' '.join(line)}"
