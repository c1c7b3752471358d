"""The command line: what it prints, what it refuses, and in how few words."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay import TokenScores, cli
from assay.registry.finding import checks, methods

MODELS = """
import numpy as np
from assay import BlackBox

WEIGHTS = {"superb": 1.8, "good": 1.0, "funny": 1.5, "mess": -3.0, "dull": -1.5}

def chances(texts):
    values = np.array([sum(WEIGHTS.get(word, 0.0) for word in text.split()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)

def interrupted(texts):
    raise KeyboardInterrupt

sentiment = BlackBox(chances, labels=["negative", "positive"], name="lexicon")
pairs = BlackBox(lambda rows: chances([" ".join(row) for row in rows]), labels=["no", "yes"], name="pairs")
pairs.fields = ("premise", "hypothesis")
broken = BlackBox(lambda texts: np.full((len(texts), 2), np.nan), labels=["a", "b"], name="broken")
stopped = BlackBox(interrupted, labels=["a", "b"], name="stopped")
"""
SOURCE = Path(__file__).parents[2] / "src"
SENTENCE = "a superb cast but a mess"


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Said]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a module of models and files of texts."""
    at = tmp_path_factory.mktemp("cli")
    (at / "toy_models.py").write_text(MODELS)
    (at / "texts.csv").write_text('id,text,other\n1,"a good, dull film",fine\n2,such a mess,dull\n', encoding="utf-8")
    (at / "texts.tsv").write_text("id\ttext\n1\ta good film\n", encoding="utf-8")
    (at / "texts.txt").write_text("a good film\r\n\nsuch a mess\u2028really\n", encoding="utf-8")
    (at / "texts.jsonl").write_text('{"a": "good", "b": "a mess"}\n\n{"a": "dull", "b": "x"}\n', encoding="utf-8")
    pq.write_table(pa.table({"text": ["a good film", "a mess"], "n": [1, 2]}), at / "texts.parquet")
    (at / "latin.csv").write_bytes("text\ncafé\n".encode("latin-1"))
    (at / "wide.txt").write_text("a good film", encoding="utf-16")
    (at / "empty.csv").write_text("text\n")
    (at / "ragged.csv").write_text("id,text\n1,a good, dull film\n")
    (at / "open.csv").write_text('text\n"a good film\na dull one\n')
    (at / "blank.txt").write_text("\n \n")
    (at / "broken.jsonl").write_text('{"a": "good"\n')
    (at / "list.jsonl").write_text('{"text": ["good"]}\n')
    (at / "broken.parquet").write_text("no parquet")
    (at / "weightless").mkdir()
    (at / "weightless" / "config.json").write_text('{"model_type": "bert"}')
    return at


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in the directory; stdin may be given as bytes."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(os, "environ", os.environ.copy())

    def command(*arguments: str, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.main(arguments)
        return Said(code, *capsys.readouterr())

    return command


@pytest.fixture
def explain(run: Run) -> Run:
    """`assay explain` with the toy model and leave-one-out, unless said otherwise."""

    def command(*arguments: str, stdin: bytes = b"") -> Said:
        model = () if "--model" in arguments else ("--model", "toy_models:sentiment")
        method = () if {"-m", "--method"} & set(arguments) else ("-m", "leave_one_out")
        return run("explain", *arguments, *model, *method, stdin=stdin)

    return command


def shell(place: Path, *arguments: str | bytes, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, *more.pop("options", ()), "-m", "assay.cli", *arguments]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, timeout=120, **more)


# Explaining


def test_json_has_one_object_per_text_and_method(explain: Run) -> None:
    said = explain(SENTENCE, "good", "--method", "leave_one_out,random", "--json")
    assert [(o["text"], o["about"]["method"]) for o in said.objects] == [
        (SENTENCE, "leave_one_out"),
        (SENTENCE, "random"),
        ("good", "leave_one_out"),
        ("good", "random"),
    ]
    first = said.objects[0]
    assert {"text", "words", "spans", "scores", "kind", "target", "prediction", "about"} <= set(first)
    assert first["words"][1] == "superb"
    assert first["scores"] == pytest.approx([0, -1.8, 0, 0, 0, 3])
    assert first["target"] == "negative"
    assert first["prediction"] == pytest.approx({"negative": 0.769, "positive": 0.231}, abs=1e-3)


def test_json_reads_back_as_the_explanation(explain: Run) -> None:
    said = explain(SENTENCE, "--json")
    assert TokenScores.from_json(said.out).to_json() == said.out.strip()


def test_people_see_the_words_and_the_signs(explain: Run) -> None:
    said = explain(SENTENCE)
    assert said.code == 0
    assert "a superb cast but a mess\n  ▼▼                ▲▲▲" in said.out
    assert "\x1b" not in said.out
    assert said.err == ""


def test_stdin_is_one_text_a_line(explain: Run) -> None:
    said = explain("-", "--json", stdin="good film\n\nבסדר mess\n".encode())
    assert [o["text"] for o in said.objects] == ["good film", "בסדר mess"]


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["texts.csv", "--column", "text"], ["a good, dull film", "such a mess"]),
        (["texts.csv"], ["a good, dull film", "such a mess"]),
        (["texts.csv", "--limit", "1"], ["a good, dull film"]),
        (["texts.tsv", "--column", "text"], ["a good film"]),
        (["texts.txt"], ["a good film", "such a mess\u2028really"]),
        (["texts.jsonl", "--column", "b"], ["a mess", "x"]),
        (["texts.parquet", "--column", "text"], ["a good film", "a mess"]),
    ],
)
def test_files(explain: Run, arguments: list[str], texts: list[str]) -> None:
    said = explain("--file", *arguments, "--json")
    assert [o["text"] for o in said.objects] == texts


def test_pairs_from_options_and_from_columns(explain: Run) -> None:
    one = explain("good cast", "--pair", "a mess", "--model", "toy_models:pairs", "--json")
    assert one.objects[0]["text"] == {"premise": "good cast", "hypothesis": "a mess"}
    columns = ("--column", "text", "--pair-column", "other")
    many = explain("--file", "texts.csv", *columns, "--model", "toy_models:pairs", "--json", "--focus", "hypothesis")
    assert [o["text"]["hypothesis"] for o in many.objects] == ["fine", "dull"]
    assert [o["words"] for o in many.objects] == [["fine"], ["dull"]]


def test_aims_reach_the_explanation(explain: Run) -> None:
    options = (
        "--target",
        "positive",
        "--against",
        "negative",
        "--scalar",
        "logit",
        "--seed",
        "7",
        "--split",
        "whitespace",
    )
    (one,) = explain("good, film", *options, "--json").objects
    assert one["target"] == "positive"
    assert one["explained"] == {"scalar": "logit", "against": 0, "target": 1}
    assert one["about"]["seed"] == 7
    assert one["words"] == ["good,", "film"]


def test_parameters_go_to_whom_they_belong(explain: Run) -> None:
    options = ("-m", "leave_one_out,random", "--json")
    for key in ("eraser", "leave_one_out.eraser"):
        first, second = explain("good film", *options, "-p", f"{key}=mask:___").objects
        assert first["about"]["parameters"]["eraser"] == "mask:___"
        assert second["about"]["parameters"] == {}


def test_a_page_is_written_whole(explain: Run, place: Path) -> None:
    said = explain(SENTENCE, "--html", "page.html")
    assert (said.code, said.err) == (0, "")
    assert said.out.endswith("wrote page.html\n")
    html = (place / "page.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert html.rstrip().endswith("</html>")
    assert "superb" in html
    assert not list(place.glob(".*part"))


def test_a_failed_write_leaves_the_old_page(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    page = place / "kept.html"
    page.write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Exception, match="No space left"):
        cli.output.write_page(page, "new", True)
    assert page.read_text() == "old"
    assert not list(place.glob(".*part"))


def test_quiet_says_nothing_but_the_result(explain: Run) -> None:
    assert explain(SENTENCE, "--html", "quiet.html", "--quiet") == Said(0, "", "")


# Checking


def test_check_json_has_one_object_per_method_and_check(run: Run) -> None:
    options = ("--model", "toy_models:sentiment", "-m", "leave_one_out,random", "-c", "deletion,sufficiency", "--json")
    said = run("check", SENTENCE, "good film", *options, "--draws", "30")
    assert [(o["method"], o["check"]) for o in said.objects] == [
        ("leave_one_out", "deletion"),
        ("leave_one_out", "sufficiency"),
        ("random", "deletion"),
        ("random", "sufficiency"),
    ]
    first = said.objects[0]
    assert {"method", "check", "mean", "interval", "random", "p_value", "better", "warnings"} <= set(first)
    assert first["better"] == "lower"
    assert first["draws"] == 30
    assert any("same eraser" in warning for warning in first["warnings"])


def test_check_parameters_do_not_mix_with_the_method_s(run: Run) -> None:
    options = ("--model", "toy_models:sentiment", "-m", "leave_one_out", "-c", "deletion", "--json")
    settings = ("-p", "eraser=mask:___", "-p", "share=0.5")
    (one,) = run("check", SENTENCE, *options, *settings).objects
    assert one["parameters"] == {"share": 0.5, "eraser": "delete", "variant": "paper"}
    assert one["warnings"] == []
    (one,) = run("check", SENTENCE, *options, "-p", "deletion.eraser=mask:_").objects
    assert one["parameters"]["eraser"] == "mask:_"


@pytest.mark.parametrize("option", ["--target", "--against", "--focus", "--split"])
def test_aims_reach_the_check(run: Run, option: str) -> None:
    options = ("--model", "toy_models:sentiment", "-m", "leave_one_out", "-c", "deletion")
    said = run("check", SENTENCE, *options, option, "nothing")
    assert said.code == 2
    assert "is called 'nothing'" in said.err


def test_the_scale_reaches_the_check(run: Run) -> None:
    options = ("--model", "toy_models:sentiment", "-m", "leave_one_out", "-c", "completeness", "--json", "--scalar")
    odds, chance = (run("check", SENTENCE, *options, scale).objects[0]["mean"] for scale in ("log_odds", "probability"))
    assert odds == pytest.approx(0, abs=1e-6)
    assert chance > 0.1


def test_check_prints_a_verdict_and_writes_a_page(run: Run, place: Path) -> None:
    options = ("--model", "toy_models:sentiment", "-m", "leave_one_out", "-c", "comprehensiveness")
    longer = "a superb and good and funny film that never wants to end at all"
    said = run("check", longer, *options)
    assert "Leave-one-out, Comprehensiveness ↑: better than random" in said.out
    assert run("check", SENTENCE, *options, "--html", "proof.html").code == 0
    assert "ahead of" in (place / "proof.html").read_text(encoding="utf-8")


# Listings


def test_methods_lists_everything_and_what_is_planned(run: Run) -> None:
    (entries,) = run("methods", "--json").objects
    built = {entry["name"] for entry in entries if entry["installed"]}
    assert built == set(methods())
    assert {"row", "uses", "section", "marks"} <= set(entries[-1])
    assert "hotflip" in {entry["name"] for entry in entries}
    assert "leave_one_out" in run("methods").out


def test_checks_say_which_way_is_better(run: Run) -> None:
    (entries,) = run("checks", "--json").objects
    assert {entry["name"]: entry["better"] for entry in entries} == {n: card.better for n, card in checks().items()}
    assert "deletion" in run("checks").out


def test_models_answer_with_and_without_the_zoo(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "writer" in {entry["name"] for entry in run("models", "--json").objects[0]}
    monkeypatch.setattr("assay.cli.commands.bundled", dict)
    monkeypatch.setattr("assay.cli.commands.writers", dict)
    assert run("models", "--json").objects == [[]]
    assert "pip install" in run("models").out


def test_of_one_model_it_tells_what_was_found_out(run: Run) -> None:
    (entry,) = run("models", "toy_models:sentiment", "--json").objects
    assert entry["facts"] == ["Nothing is known of it but its answers."]
    assert "lime" in entry["methods"]
    assert "gradient" in entry["not"]
    assert "not these  attention" in run("models", "toy_models:sentiment").out
    assert run("models", "toy_models:nothing").code == 2


def test_help_and_version(run: Run) -> None:
    for command in ([], ["explain"], ["check"], ["methods"]):
        said = run(*command, "--help")
        assert said.code == 0
        assert "Usage: assay" in said.out
    assert "Examples" in run("explain", "--help").out
    assert run("--version").out.startswith("assay 0")


# Refusing


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--file", "missing.csv"], "missing.csv cannot be read: No such file"),
        (["--file", "texts.csv", "--column", "texts"], "has no column 'texts'; its columns are: id, text, other"),
        (["--file", "texts.jsonl"], "say which column"),
        (["--file", "empty.csv"], "empty.csv holds no texts"),
        (["--file", "ragged.csv"], "ragged.csv, line 2 has more fields than there are columns"),
        (["--file", "open.csv"], "open.csv is damaged or cut short (a quote at or after line 2 is never closed)"),
        (["--file", "blank.txt"], "blank.txt holds no texts"),
        (["--file", "latin.csv"], "latin.csv, row 1 is not UTF-8 (byte 0xe9 at character 3); save it as UTF-8"),
        (["--file", "wide.txt"], "looks like UTF-16; save it as UTF-8"),
        (["--file", "broken.jsonl"], "broken.jsonl holds no row that can be read: line 1 is not JSON"),
        (["--file", "list.jsonl"], "row 1: the column 'text' holds list"),
        (["--file", "broken.parquet"], "is not a parquet file"),
        (["--file", "weightless"], "weightless is no file"),
        (["good", "--file", "texts.csv"], "not both"),
        ([], "give a text"),
        (["-"], "no text to read on stdin"),
        (["good", "--column", "text"], "belong to --file"),
        (["good", "--target", "positiv"], "did you mean 'positive'?"),
        ([""], "has no word to explain"),
        (["good", " "], "text 2: the text ' ' has no word"),
        (["good\udce9"], "lone surrogate"),
        (["good", "--model", "toy_models:broken"], "NaN"),
        (["good", "--model", "toy_models:pairs"], "reads pairs (premise, hypothesis)"),
        (["good", "--model", "toy_models:nothing"], "cannot be imported"),
        (["good", "--model", "weightless"], "no weights"),
        (["good", "--model", "./nowhere"], "no directory"),
        (["good", "-m", "leave_one_ou"], "did you mean 'leave_one_out'?"),
        (["good", "-m", ","], "--method needs a name"),
        (["good", "-m", "gradient"], "Methods of the same kind that work: "),
        (["good", "-p", "eraser"], "written key=value"),
        (["good", "-p", "erase=mask"], "did you mean 'eraser'?"),
        (["good", "-p", "random.eraser=mask"], "no method or check of this command is called 'random'"),
        (["good", "-p", "leave_one_out.steps=3"], "no parameter of leave_one_out is called 'steps'"),
        (["good", "--scalar", "odds"], "'odds' is not one of"),
        (["good", "--seed", "x"], "--seed"),
        (["good", "--nothing"], "No such option"),
        (["good", "--html", "nowhere/page.html"], "no directory nowhere"),
        (["good", "--html", "weightless"], "is a directory"),
        (["good", "--html", "x.html", "--json"], "not both"),
    ],
)
def test_bad_input_is_one_clear_line(explain: Run, arguments: list[str], reason: str) -> None:
    said = explain(*arguments)
    assert said.code == 2
    assert reason in said.err
    assert said.err.startswith("assay: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


def test_a_missing_option_is_named(run: Run) -> None:
    said = run("check", "good", "-m", "random")
    assert said == Said(2, "", "assay: Missing option '--check' / '-c'. See `assay check --help`.\n")


def test_an_unknown_check_is_refused_before_the_model_is_loaded(run: Run) -> None:
    said = run("check", "good", "-m", "random", "-c", "delation", "--model", "./nowhere")
    assert "did you mean 'deletion'?" in said.err


def test_ctrl_c_says_so(explain: Run) -> None:
    assert explain("good", "--model", "toy_models:stopped") == Said(130, "", "assay: stopped by Ctrl-C.\n")


def test_long_work_says_how_far_it_is_where_no_terminal_shows_a_bar(
    explain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.progress._EVERY", -1.0)
    said = explain("good", "bad", "--json")
    assert re.fullmatch(
        r"assay: explaining: 1 of 2, [\d.]+ a second\nassay: explaining: 2 of 2, [\d.]+ a second, \d+ s left\n",
        said.err,
    )
    assert explain("good", "bad", "--json", "--quiet").err == ""
    assert not logging.getLogger("assay.progress").handlers


def test_a_bug_keeps_its_traceback(explain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("assay.cli.requests.read", bug)
    with pytest.raises(ZeroDivisionError):
        explain("good")


# In a process of its own


@pytest.mark.parametrize("command", ["methods", "--help", "checks"])
def test_listings_and_help_are_light(place: Path, command: str) -> None:
    said = shell(place, command, options=("-X", "importtime"))
    assert said.returncode == 0
    imported = {line.rpartition(b"|")[2].strip() for line in said.stderr.splitlines()}
    assert b"typer" in imported
    assert not {b"torch", b"transformers", b"pandas", b"pyarrow", b"sklearn"} & imported


def test_bytes_that_are_no_text_do_not_crash_the_message(place: Path) -> None:
    model = ("--model", "toy_models:sentiment", "-m", "random")
    assert b"lone surrogate" in shell(place, "explain", b"caf\xe9", *model).stderr
    said = shell(place, "explain", "good", *model, "--target", b"caf\xe9")
    assert said.returncode == 2
    assert rb"caf\udce9" in said.stderr


def test_a_terminal_without_unicode_still_gets_its_answer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    model = ("--model", "toy_models:sentiment", "-m", "leave_one_out")
    said = shell(place, "explain", "a dull café 😀", *model)
    assert said.returncode == 0
    assert b"+ for negative: dull +1.5" in said.stdout
    told = shell(place, "explain", "a dull café 😀", *model, "--json")
    assert json.loads(told.stdout)["text"] == "a dull café 😀"


def test_a_closed_pipe_is_no_error(place: Path) -> None:
    command = f'"{sys.executable}" -m assay.cli methods | head -n 1'
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    said = subprocess.run(command, shell=True, cwd=place, env=environment, capture_output=True, timeout=60)
    assert said.stdout == b"input features\n"
    assert said.stderr == b""


class Closed(io.StringIO):
    """What stdout is once its reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError

    def fileno(self) -> int:
        return os.open(os.devnull, os.O_WRONLY)


def test_a_pipe_that_closes_in_the_middle_is_not_laid_on_the_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout", Closed())
    assert cli.main(["methods"]) == 0
    assert capsys.readouterr().err == ""


SLOW = """
import time
from pathlib import Path
from assay import BlackBox

def chances(texts):
    Path("asked").touch()
    time.sleep(0.05 * len(texts))
    return [[0.4, 0.6]] * len(texts)

model = BlackBox(chances, labels=["a", "b"], name="slow")
"""


def test_ctrl_c_stops_a_process_at_work(tmp_path: Path) -> None:
    (tmp_path / "slow_models.py").write_text(SLOW)
    options = ["-m", "lime", "--model", "slow_models:model", "--json"]
    # A suite that was started in the background of a shell ignores Ctrl-C, and its children would too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(
        [sys.executable, "-m", "assay.cli", "explain", " ".join(f"word{i}" for i in range(20)), *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "asked").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=30) == ("", "assay: stopped by Ctrl-C.\n")
        assert running.returncode == 130
    finally:
        running.kill()
        running.wait()
