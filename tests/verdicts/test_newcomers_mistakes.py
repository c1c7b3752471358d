"""What people who come from other libraries try first: each is a result, or one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tiny
import torch
from sklearn.linear_model import LogisticRegression

import assay
from assay import cli

T, LOO = "a gripping , funny film", "leave_one_out"
TWO = [T, "dull and slow"]
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def m() -> Any:
    return assay.load(tiny.bert())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.joblib").write_bytes(b"x")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    (tmp_path / "t.txt").write_text("\n".join(TWO), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORK: dict[str, Callable[[Any], Any]] = {
    "a frame with a column text": lambda m: assay.explain(m, pd.DataFrame({"text": TWO, "y": [0, 1]}), LOO),
    "a frame with one column": lambda m: assay.explain(m, pd.DataFrame({"review": TWO}), LOO),
    "a Series": lambda m: assay.explain(m, pd.Series(TWO), LOO),
    "an array": lambda m: assay.explain(m, np.array(TWO), LOO),
    "a generator": lambda m: assay.explain(m, (text for text in TWO), LOO),
    "a pathlib path": lambda m: assay.explain(m, Path("t.txt"), LOO),
    "a Sample": lambda m: assay.explain(m, assay.Sample.of(Path("t.txt")), LOO),
}


@pytest.mark.parametrize("call", WORK.values(), ids=WORK)
def test_many_texts_in_any_form(call: Callable[[Any], Any], m: Any, place: Path) -> None:
    expected = assay.explain(m, TWO, LOO)
    assert [e.scores.tolist() for e in call(m)] == [e.scores.tolist() for e in expected]


@pytest.mark.parametrize("texts", [T, np.str_(T), [T], pd.DataFrame({"text": [T]})], ids=lambda t: type(t).__name__)
def test_strings_instead_of_lists_and_by_position(m: Any, texts: Any) -> None:
    (verdict,) = assay.check(m, texts, LOO, "deletion", draws=5, progress=False)
    assert (verdict.method, verdict.check) == (LOO, "deletion")
    assert verdict.scores.tolist() == assay.check(m, [T], [LOO], ["deletion"], draws=5)[0].scores.tolist()


def test_labels_in_other_case_and_numbers_of_other_kinds(m: Any) -> None:
    one = assay.explain(m, T, LOO, target="LABEL_1").scores.tolist()
    for target in ("label_1", "Label_1", 1, "1", np.int64(1), torch.tensor(1)):
        assert assay.explain(m, T, LOO, target=target).scores.tolist() == one


def test_the_order_within_a_pair_of_model_and_tokenizer_does_not_matter(m: Any) -> None:
    model, tokenizer = tiny.bert()
    for given in ((tokenizer, model), [model, tokenizer]):
        assert assay.explain(given, T, LOO).scores.tolist() == assay.explain(m, T, LOO).scores.tolist()


def test_one_string_is_one_text_and_not_its_letters(m: Any) -> None:
    assert m.predict(T).tolist() == m.predict([T]).tolist()


SAID: dict[str, tuple[Callable[[Any], Any], str]] = {
    "text before model": (lambda m: assay.explain(T, m, LOO), "the model comes first"),
    "estimator as text": (lambda m: assay.explain(m, LogisticRegression(), LOO), "the model comes first"),
    "method before text": (lambda m: assay.explain(m, LOO, T), "is it a text? The order is"),
    "check before method": (lambda m: assay.check(m, T, "deletion", "lime"), "lime is a method, not a check"),
    "check as method": (lambda m: assay.explain(m, T, "deletion"), "deletion is a check, not a method"),
    "frame of two columns": (
        lambda m: assay.explain(m, pd.DataFrame({"a": TWO, "b": TWO}), LOO),
        "as in frame['a']; it has: a, b",
    ),
    "tokenizer": (lambda m: assay.load(tiny.wordpiece()), "BertTokenizer is a tokenizer; give it with its model"),
    "bare model": (lambda m: assay.load(tiny.bert()[0]), "needs its tokenizer: give (model, tokenizer)"),
    "model without a head": (lambda m: assay.load((tiny.bert()[0].bert, tiny.wordpiece())), "not a kind of model"),
    "bytes": (lambda m: assay.explain(m, T.encode(), LOO), "not bytes; decode it"),
    "bytes in a list": (lambda m: assay.explain(m, [T.encode()], LOO), "not bytes; decode it"),
    "tokens": (lambda m: assay.explain(m, tiny.wordpiece()(T), LOO), "these are tokens"),
    "token ids": (lambda m: assay.explain(m, torch.tensor([[1, 2]]), LOO), "these are numbers"),
    "three in a tuple": (lambda m: assay.explain(m, (T, T, T), LOO), "give several texts as a list"),
    "set": (lambda m: assay.explain(m, set(TWO), LOO), "a set has no order"),
    "None": (lambda m: assay.explain(m, None, LOO), "not None"),
    "None in a list": (lambda m: assay.explain(m, [T, None], LOO), "text 2: a text is a string"),
    "NaN in a Series": (lambda m: assay.explain(m, pd.Series([T, np.nan]), LOO), "text 2: a text is a string"),
    "None as model": (lambda m: assay.explain(None, T, LOO), "cannot use NoneType as a model"),
    "no texts": (lambda m: assay.check(m, [], LOO, "deletion"), "there is no text"),
    "no methods": (lambda m: assay.explain(m, T, []), "the list of methods is empty"),
    "number as method": (lambda m: assay.explain(m, T, 3), "3 is no method"),
    "methods for method": (lambda m: assay.explain(m, T, methods="lime"), "explain and describe call it method"),
    "method for methods": (lambda m: assay.trust(m, T, method="lime"), "did you mean 'methods'?"),
    "num_samples": (lambda m: assay.explain(m, T, "lime", num_samples=9), "did you mean 'samples'?"),
    "parameter in check": (lambda m: assay.check(m, T, "lime", "deletion", samples=9), "goes with its object"),
    "half a step": (lambda m: assay.explain(m, T, "ig", steps=2.5), "steps must be of type int, not 2.5"),
    "target too large": (lambda m: assay.explain(m, T, LOO, target=7), "they count from 0 (LABEL_0) to 2 (LABEL_2)"),
    "target below zero": (lambda m: assay.explain(m, T, LOO, target=-1), "no label is called -1"),
    "target for each": (lambda m: assay.explain(m, TWO, LOO, target=[0, 1]), "one label for all texts"),
    "against itself": (lambda m: assay.explain(m, T, LOO, target=1, against=1), "against itself"),
    "scalar": (lambda m: assay.explain(m, T, LOO, scalar="prob"), "no scale is called 'prob'"),
    "seed below zero": (lambda m: assay.explain(m, T, "lime", seed=-1), "a seed is a whole number"),
    "no seed": (lambda m: assay.trust(m, T, seed=None), "a seed is a whole number"),
    "file as text": (lambda m: assay.explain(m, "t.txt", LOO), "give pathlib.Path('t.txt')"),
    "file as text of check": (lambda m: assay.check(m, "t.txt", LOO, "deletion"), "give pathlib.Path('t.txt')"),
    "missing file": (lambda m: assay.check(m, Path("no.csv"), LOO, "deletion"), "no.csv cannot be read"),
    "spreadsheet to explain": (lambda m: assay.explain(m, Path("t.xlsx"), LOO), "is a spreadsheet; save it as .csv"),
    "spreadsheet to check": (lambda m: assay.check(m, Path("t.xlsx"), LOO, "deletion"), "is a spreadsheet"),
    "spreadsheet to describe": (lambda m: assay.describe(m, "t.xlsx", "sp_lime"), "is a spreadsheet"),
    "spreadsheet to trust": (lambda m: assay.trust(m, Path("t.xlsx")), "is a spreadsheet"),
    "pickle": (lambda m: assay.load("model.joblib"), "model.joblib is a pickle"),
    "pickle by path": (lambda m: assay.explain(Path("model.joblib"), T, LOO), "is a pickle"),
    "pickle that is not there": (lambda m: assay.load("other.joblib"), "there is no file other.joblib"),
    "address": (lambda m: assay.load("https://example.org/m"), "a model of the hub is named owner/name"),
    "device": (lambda m: assay.load(tiny.bert(), device="gpu"), "no device is called 'gpu'"),
    "nothing to predict": (lambda m: m.predict(None), "predict takes a list of texts"),
}


@pytest.mark.parametrize(("call", "says"), SAID.values(), ids=SAID)
def test_one_sentence(call: Callable[[Any], Any], says: str, m: Any, place: Path) -> None:
    with pytest.raises(assay.AssayError) as caught:
        call(m)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 500


@no_gpu
def test_a_gpu_that_is_not_there() -> None:
    pair = tiny.bert()
    for call in (
        lambda: assay.load(pair, device="cuda"),
        lambda: assay.explain(pair, T, LOO, device="cuda:0"),
        lambda: assay.check(pair, T, LOO, "deletion", device="cuda"),
        lambda: assay.trust(pair, T, device="cuda"),
        lambda: assay.describe(pair, [T], "sp_lime", device="cuda"),
    ):
        with pytest.raises(assay.AssayError, match="torch sees no GPU here"):
            call()


VERBS = {
    "explain": (T, "-m", LOO),
    "check": (T, "-m", LOO, "-c", "deletion"),
    "trust": (T, "-m", LOO),
    "audit-attention": (T,),
    "describe": ("--file", "t.txt", "-m", "sp_lime"),
    "run": ("t.txt", "-m", LOO, "--out", "DIR"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_in_the_shell(verb: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        assert cli.main([verb, *arguments]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        return error

    given = VERBS[verb]
    assert "model.joblib is a pickle" in said(*given, "--model", "model.joblib")
    if not torch.cuda.is_available():
        assert "torch sees no GPU here" in said(*given, "--device", "cuda")
    rest = given[1:] if verb not in ("describe", "run") else given[2:] if verb == "describe" else given[1:]
    file = ("t.xlsx",) if verb == "run" else ("--file", "t.xlsx")
    assert "t.xlsx is a spreadsheet" in said(*file, *rest)
