"""What a newcomer types first works, or gets one helpful sentence."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import assay
from assay import cli
from assay.cli import threads
from assay.errors import AssayError, BadInput, EmptyText, UnknownName
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.registry.finding import checks, find_check, find_method, methods
from assay.registry.recommended import recommended
from assay.registry.survey import TABLE

MODEL = assay.BlackBox(
    lambda texts: np.array([[1 - p, p] for p in (0.1 + 0.8 * ("good" in t) for t in texts)]), labels=["no", "yes"]
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    (tmp_path / "default_models.py").write_text(
        "import numpy as np\n"
        "def good(texts):\n"
        "    return np.array([[1 - p, p] for p in (0.1 + 0.8 * ('good' in t) for t in texts)])\n"
    )
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main([*arguments, "--model", "default_models:good"] if "--model" not in arguments else [*arguments])
    return code, *capsys.readouterr()


def test_explain_without_a_method_says_which_it_took_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "explain", "a good film", "--json")
    assert code == 0
    assert json.loads(out)["about"]["method"] == "leave_one_out"
    assert err == (
        "assay: explained by Leave-one-out: it works with every model, asks one row a word, and passes most tests; "
        "`assay trust` compares methods.\n"
    )
    assert said(capsys, "explain", "a good film", "--quiet")[2] == ""
    assert assay.explain(MODEL, "a good film").about.method == "leave_one_out"


LONG = "a good film and a fine story " * 50


def test_of_a_long_text_the_recommended_method_asks_less(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "explain", LONG, "--json")
    assert (code, json.loads(out)["about"]["method"]) == (0, "partition_shap")
    assert "explained by PartitionSHAP: a text has 350 words" in err
    assert assay.explain(MODEL, LONG).about.method == "partition_shap"
    assert assay.explain(MODEL, LONG, eraser="delete").about.method == "leave_one_out"  # it is its parameter


def test_the_recommended_method_is_one_that_the_model_can_be_asked() -> None:
    card, why = recommended({Predict, InputGradient}, ["short", ("a", LONG)])
    assert (card.name, "351 words" in why) == ("integrated_gradients", True)
    assert recommended({Predict}, [{"premise": LONG, "hypothesis": "so"}]).card.name == "partition_shap"
    assert recommended({Predict, InputGradient}, ["word " * 256]).card.name == "leave_one_out"
    assert recommended({Predict, InputGradient}, ["word " * 257]).card.name == "integrated_gradients"
    assert recommended({Predict}, [None, 3]).card.name == "leave_one_out"


def test_a_check_must_be_told_what_it_tests(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "check", "a good film", "--check", "deletion")
    assert code == 2
    assert "--method needs a name" in err


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("LIME", "lime"),
        ("shap", "kernel_shap"),
        ("SHAP", "kernel_shap"),
        ("ig", "integrated_gradients"),
        ("Integrated-Gradients", "integrated_gradients"),
        ("integrated gradients", "integrated_gradients"),
        ("loo", "leave_one_out"),
        ("occlusion", "leave_one_out"),
        ("SmoothGrad", "smooth_grad"),
    ],
)
def test_other_names_of_methods(given: str, name: str) -> None:
    assert find_method(given).name == name


def test_a_method_is_found_by_its_title_in_the_list() -> None:
    built = [cell for cell in TABLE if cell.name in methods()]
    assert {cell.title: find_method(cell.title).name for cell in built} == {cell.title: cell.name for cell in built}


def test_every_name_is_its_own_and_checks_have_cases_too() -> None:
    assert all(find_method(name).name == name for name in methods())
    assert all(find_check(name.upper()).name == name for name in checks())
    with pytest.raises(UnknownName, match="did you mean 'lime'"):
        find_method("limee")


def test_a_file_given_as_a_text_is_asked_about(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "reviews.csv").write_text("text\na good film\n")
    code, _, err = said(capsys, "explain", "reviews.csv")
    assert code == 2
    assert "reviews.csv is a file; to read the texts in it, say --file reviews.csv." in err
    assert said(capsys, "explain", "a" * 5000 + "\0")[0] in (0, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("explain", "good", "--model", "sst2", "--device", "cuda"),
            "torch sees no GPU here, so the model cannot run on 'cuda'",
        ),
        (("explain", "good", "--model", "model.joblib"), "is a pickle, which may run code when it is opened"),
        (("explain", "--file", "rows.xlsx"), "is a spreadsheet; save it as .csv"),
    ],
)
def test_one_helpful_sentence(
    arguments: tuple[str, ...], sentence: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("model.joblib", "rows.xlsx"):
        (place / name).write_bytes(b"x")
    code, _, err = said(capsys, *arguments)
    assert code == 2
    (line,) = err.strip().splitlines()[-1:]
    assert sentence in line


def test_lists_of_methods_series_and_arrays() -> None:
    texts = ["a good film", "a bad film"]
    both = assay.explain(MODEL, texts, ["loo", "random"])
    assert {name: len(maps) for name, maps in both.items()} == {"leave_one_out": 2, "random": 2}
    for many in (pd.Series(texts), np.array(texts)):
        assert [e.words for e in assay.explain(MODEL, many, "loo")] == [e.words for e in both["leave_one_out"]]
        assert len(assay.check(MODEL, many, "loo", "deletion")[0].scores) == 2
        assert assay.trust(MODEL, many, "loo", "deletion").texts == 2
    assert assay.explain(MODEL, np.str_("a good film"), "loo").words == ("a", "good", "film")


def test_one_bad_text_is_its_own_error_if_it_is_kept() -> None:
    texts: list[Any] = ["a good film", "  ", "bad"]
    with pytest.raises(EmptyText, match=r"^text 2:"):
        assay.explain(MODEL, texts, "loo")
    first, second, third = assay.explain(MODEL, texts, "loo", errors="keep")
    assert isinstance(second, EmptyText)
    assert (first.words, third.words) == (("a", "good", "film"), ("bad",))
    with pytest.raises(BadInput, match="no way with errors is called 'ignore'"):
        assay.explain(MODEL, texts, "loo", errors="ignore")


def test_a_device_is_auto_by_default_and_a_wrong_one_is_said() -> None:
    assert assay.load(MODEL, device="auto") is MODEL
    with pytest.raises(AssayError, match="no device is called 'nowhere'"):
        assay.load("sst2", device="nowhere")


@pytest.mark.parametrize(("load", "free"), [(0.2, 4), (1.4, 3), (3.0, 1), (40.0, 1)])
def test_free_cores(load: float, free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert threads.free_cores() == free


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "free_cores", lambda: 1)
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    threads.choose_threads()
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]) == ("3", "PASSIVE")


def test_the_option_threads(capsys: pytest.CaptureFixture[str]) -> None:
    torch = sys.modules["torch"]
    before = torch.get_num_threads()
    try:
        assert said(capsys, "explain", "a good film", "--threads", "2", "--quiet")[0] == 0
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "command", ["explain", "check", "trust", "describe", "run", "audit-attention", "mend", "study"]
)
def test_every_command_that_computes_takes_threads(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0
    assert "--threads" in capsys.readouterr().out
