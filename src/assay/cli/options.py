"""The options that commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.threads import set_threads
from assay.questions.answers import Scalar

INPUT, AIM, OUTPUT = "What is read", "What is explained", "What is printed"


def _option(*names: str, panel: str, text: str, metavar: str | None = None, least: int | None = None) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar, min=least)


def _input(name: str, text: str, metavar: str, least: int | None = None) -> Any:
    return _option(name, panel=INPUT, text=text, metavar=metavar, least=least)


def _aim(*names: str, text: str, metavar: str | None = None, least: int | None = None) -> Any:
    return _option(*names, panel=AIM, text=text, metavar=metavar, least=least)


_PARAMETER = (
    "A parameter: key=value for every method that has it (if none has, for every check), "
    "or name.key=value for one of them. Repeatable."
)

Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="The texts; - reads them from stdin, one text a line.", show_default=False),
]
Methods = Annotated[str, _aim("--method", "-m", text="Methods, as `assay methods` lists them.", metavar="NAME[,NAME]")]
TestedMethods = Annotated[
    str | None, _aim("--method", "-m", text="Methods, as `assay methods` lists them.", metavar="NAME[,NAME]")
]
Checks = Annotated[str, _aim("--check", "-c", text="Checks, as `assay checks` lists them.", metavar="NAME[,NAME]")]
Settings = Annotated[list[str] | None, _aim("--parameter", "-p", text=_PARAMETER, metavar="KEY=VALUE")]
Target = Annotated[
    str | None, _aim("--target", text="The label to explain; by default the predicted one.", metavar="LABEL")
]
AnyTarget = Annotated[
    str | None,
    _aim("--target", text="The label to explain; by default the predicted one; all: every label.", metavar="LABEL"),
]
Against = Annotated[str | None, _aim("--against", text="Explain why TARGET rather than this label.", metavar="LABEL")]
Scale = Annotated[
    Scalar, _aim("--scalar", text="The number to explain: log_odds, probability or logit.", metavar="SCALE")
]
Focus = Annotated[str | None, _aim("--focus", text="Explain only these fields of a pair.", metavar="FIELD[,FIELD]")]
Tokens = Annotated[
    str | None,
    _aim("--tokens", text="each: explain every token of a continuation separately.", metavar="each"),
]
Seed = Annotated[int, _aim("--seed", text="The random seed.", metavar="N", least=0)]
Draws = Annotated[
    int | None,
    _aim("--draws", text="How many random explanations per text; by default 200 over all texts.", metavar="N", least=1),
]
Model = Annotated[
    str, _input("--model", "A bundled name, a directory, owner/name@revision of the hub, or module:attribute.", "M")
]
OneModel = Annotated[
    str | None,
    typer.Argument(metavar="MODEL", help="The model to examine, named as in --model.", show_default=False),
]
Question = Annotated[
    str | None,
    _input("--question", "What a chat model is asked about each text; it answers with one of --labels.", "TEXT"),
]
Labels = Annotated[str | None, _input("--labels", "The answers from which a chat model chooses.", "A,B")]
Scores = Annotated[
    Path | None,
    _input("--scores", "Texts with scores that another tool made (.jsonl or .parquet), to be tested.", "F"),
]
Device = Annotated[
    str | None, _input("--device", "Where the model runs: cpu, cuda, or auto (a GPU if there is one).", "D")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        help="Threads to compute with; by default as many as there are free cores.",
        rich_help_panel=INPUT,
        metavar="N",
        min=1,
        callback=set_threads,
    ),
]
Dtype = Annotated[
    str | None, _input("--dtype", "bf16 (or fp16, on a GPU): faster; compared with fp32 on your texts.", "TYPE")
]
Pair = Annotated[str | None, _input("--pair", "The second text, for a model of pairs.", "TEXT2")]
File = Annotated[Path | None, _input("--file", "Texts from a .csv, .tsv, .jsonl, .parquet or .txt file.", "F")]
Column = Annotated[str | None, _input("--column", "The column of the file that holds the texts.", "C")]
PairColumn = Annotated[str | None, _input("--pair-column", "The column of the second texts.", "C")]
LabelColumn = Annotated[
    str | None, _input("--label-column", "The column of the labels, for checks that train and for --train.", "C")
]
TrainFile = Annotated[
    Path | None,
    _input(
        "--train",
        "What the model was trained on, for methods that search it; of a classifier with labels.",
        "F",
    ),
]
TrainLabels = Annotated[
    str | None, _input("--label-column", "The column of --train that holds the labels; label by default.", "C")
]
IndexFolder = Annotated[
    Path | None, _input("--index", "An index of the training set by `assay index`, in the place of --train.", "DIR")
]
DevFile = Annotated[Path | None, _input("--dev", "Labelled texts to choose or score models on.", "F")]
TestFile = Annotated[Path | None, _input("--test", "Labelled texts to compare trained models on.", "F")]
Trained = Annotated[
    Path | None, _input("--out", "Where checks that train keep their models, to be resumed from.", "DIR")
]
Limit = Annotated[int | None, _input("--limit", "Only the first N texts.", "N", least=1)]
Split = Annotated[
    str, _input("--split", "The units that get scores: words, whitespace, phrases or sentences.", "UNITS")
]
Json = Annotated[bool, _option("--json", panel=OUTPUT, text="Print one JSON object a line.", metavar="")]
JsonList = Annotated[bool, typer.Option("--json", help="Print a JSON list.", metavar="")]
Html = Annotated[Path | None, _option("--html", panel=OUTPUT, text="Write a self-contained HTML page.", metavar="FILE")]
ShowTable = Annotated[
    bool, _option("--table", panel=OUTPUT, text="In the terminal, all words and scores as a table too.", metavar="")
]
Quiet = Annotated[bool, _option("--quiet", "-q", panel=OUTPUT, text="Show no progress and no notes.", metavar="")]


def parts(given: str | None) -> list[str] | None:
    """The parts of NAME,NAME, each once."""
    return None if given is None else list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
