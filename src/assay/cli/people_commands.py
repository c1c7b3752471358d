"""`assay people`: tasks that people answer, and what their answers say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.app import App
from assay.cli.commands import app
from assay.cli.settings import made
from assay.cli.sources import require_fields, sample_of
from assay.engine.engine import Engine
from assay.errors import BadInput, UnknownName
from assay.explanations.loadings import Loadings
from assay.models import load
from assay.registry.finding import find_method
from assay.request import TextSource
from assay.statistics.exact import Share
from assay.verbs import Aims, describe
from assay.views.wide import grid
from assay.workflows.people import (
    IntrusionScores,
    PeopleStudy,
    Scores,
    collect,
    intrusion_scores,
    intrusion_tasks,
    is_intrusion,
    lists,
    lists_of_all,
    read_answers,
    score,
    tasks,
)
from assay.workflows.people.lists import DESIGNS, require_people
from assay.workflows.people.making import COUNT, Made, make
from assay.workflows.people.results import Line

_REDUCTION, _ROTATION = "input_reduction", "rotation"
_PEOPLE = "Who is asked"
_EXPORT = """[bold]Examples[/bold]

assay people export --file snli.csv --column premise --pair-column hypothesis --model snli --out study

assay people export --file reviews.csv --label-column label --annotators 9 --answers-each 1 --out study

assay people export --method rotation --model mlm --examples 20 --out intrusion

People see what is in study/public; study/private holds the key."""
_SCORE = """[bold]Examples[/bold]

assay people score study answers.csv

The answers are a .csv, .tsv, .jsonl or .parquet file with the columns item, annotator and answer."""


def _asked(*names: str, text: str, metavar: str, least: int | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, min=least, rich_help_panel=_PEOPLE)


File = Annotated[Path | None, o._input("--file", "Texts from a .csv, .tsv, .jsonl, .parquet or .txt file.", "F")]
LabelColumn = Annotated[
    str | None, o._input("--label-column", "The column of gold labels: then only texts predicted right.", "C")
]
Examples = Annotated[
    int,
    _asked("--examples", text="How many texts, balanced over labels; or how many dimensions.", metavar="N", least=1),
]
Asked = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help=f"{_REDUCTION} (shortened texts) or {_ROTATION} (which word does not belong).",
        metavar="NAME",
        rich_help_panel=_PEOPLE,
    ),
]
Annotators = Annotated[int, _asked("--annotators", text="How many people; each gets a list.", metavar="N", least=1)]
Designed = Annotated[
    str, _asked("--design", text=f"{' or '.join(DESIGNS)}: who sees a text in which role.", metavar="NAME")
]
Each = Annotated[
    int | None,
    _asked("--answers-each", text="People per item; all of their group by default.", metavar="N", least=1),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The directory of the study.", metavar="DIR")]
Place = Annotated[Path, typer.Argument(metavar="DIR", help="What `assay people export` wrote.", show_default=False)]
Answers = Annotated[list[Path], typer.Argument(metavar="ANSWERS", help="Files of answers.", show_default=False)]
Counted = Annotated[str, typer.Option("--by", help="What counts once: items (by majority) or answers.", metavar="UNIT")]

people = App(
    help="Ask people: export tasks about reduced texts or word vectors, and score the answers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(people, name="people", rich_help_panel="Whole datasets")


@people.command(epilog=_EXPORT)
def export(
    *,
    out: Out,
    method: Asked = _REDUCTION,
    file: File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: LabelColumn = None,
    model: o.Model = "sst2",
    dtype: o.Dtype = None,
    limit: o.Limit = None,
    split: o.Split = "words",
    parameter: o.Settings = None,
    examples: Examples = COUNT,
    annotators: Annotators = 3,
    design: Designed = "rotated",
    each: Each = None,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
) -> None:
    """Tasks of Feng et al. (2018) with reduced texts; or, with --method rotation, the word that does not belong."""
    study = PeopleStudy(out).require_free()
    require_people(annotators, design, each)
    engine = Engine(load(model, dtype=dtype))
    progress = False if quiet else None
    if method == _ROTATION:
        described = _rotated(engine, file, seed, _made(method, parameter), progress)
        asked, notes = intrusion_tasks(described, examples, seed), list(described.warnings)
        assigned = lists_of_all(asked, annotators, each)
    elif method == _REDUCTION:
        source = TextSource(file=file, column=column, pair_column=pair_column, limit=limit, label_column=label_column)
        found = _reduced(engine, source, examples, Aims(split=split, seed=seed), _made(method, parameter), progress)
        asked, notes = tasks(found.examples, seed), list(found.notes)
        assigned = lists(asked, annotators, design=design, each=each)
    else:
        raise UnknownName.of("method that people can be asked about", method, (_REDUCTION, _ROTATION))
    study.write(asked, assigned)
    output.show(*([] if quiet else [*notes, *asked.notes]))
    output.show(f"wrote {len(asked.items)} items and the lists of {annotators} people to {out / 'public'}")
    output.show(f"wrote the key to {out / 'private'}: keep it from those who answer")


def _made(name: str, parameter: list[str] | None) -> Any:
    (method,), _ = made([find_method(name)], [], parameter or [])
    return method


def _rotated(engine: Engine, file: Path | None, seed: int, method: Any, progress: bool | None) -> Loadings:
    """Words of the model by its dimensions."""
    if file is not None:
        raise BadInput("--method rotation asks about the words of a model; it takes no --file.")
    found: Loadings = describe(None, None, method, engine=engine, seed=seed, progress=progress)
    return found


def _reduced(engine: Engine, source: TextSource, count: int, aims: Aims, method: Any, progress: bool | None) -> Made:
    """Reduced texts of a file."""
    if source.file is None:
        raise BadInput(f"--method {_REDUCTION} needs texts: --file F.")
    rows = list(sample_of(source))
    texts = [row.text for row in rows]
    gold = None if source.label_column is None else [row.label or "" for row in rows]
    require_fields(engine.model.fields[: len(engine.model.fields) - engine.model.optional], texts, engine.model.name)
    return make(engine, texts, gold, count=count, aims=aims, method=method, progress=progress)


@people.command("score", epilog=_SCORE)
def scored(place: Place, answers: Answers, by: Counted = "items", as_json: o.Json = False) -> None:
    """Accuracy on whole and reduced texts, preference against random ones, or intruders found; exact intervals."""
    study = PeopleStudy(place)
    keys = study.keys()
    collected = collect(keys, read_answers(answers), study.assignments())
    found: Scores | IntrusionScores = intrusion_scores(collected, by) if is_intrusion(keys) else score(collected, by)
    if as_json:
        output.show_json(json.dumps(found.to_dict(), ensure_ascii=False))
    elif isinstance(found, IntrusionScores):
        output.show(_versions(found), *_intrusion_sentences(found))
    else:
        output.show(_table(found.lines), *_sentences(found))


def _versions(found: IntrusionScores) -> Any:
    table = grid("vectors", "intruders found", "p, chance", "p, rotated", "cannot tell")
    for line in found.lines:
        table.add_row(line.version, _share(line.found), _p(line.p_chance), _p(line.p_rotated), str(line.undecided))
    return table


def _intrusion_sentences(found: IntrusionScores) -> Iterable[str]:
    yield f"{found.answers} answers of {found.annotators} people to {found.items} items; counted by {found.by}."
    yield "Exact 95 % intervals. p: against chance, one in six (binomial), and against rotated (Fisher), both exact."
    yield from _agreed({line.version: line.agreement for line in found.lines})
    yield from found.warnings


def _table(lines: Iterable[Line]) -> Any:
    table = grid("label", "right, original", "right, reduced", "p", "reduced preferred", "p", "cannot tell")
    for line in lines:
        unsure = " / ".join(map(str, line.undecided.values()))
        table.add_row(
            line.label,
            _share(line.original),
            _share(line.reduced),
            _p(line.p_accuracy),
            _share(line.preferred),
            _p(line.p_preferred),
            unsure,
        )
    return table


def _share(share: Share) -> str:
    return f"{share.shown()} of {share.of}" if share.of else "no answers"


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _sentences(found: Scores) -> Iterable[str]:
    yield f"{found.answers} answers of {found.annotators} people to {found.items} items; counted by {found.by}."
    yield "Exact 95 % intervals. p: original against reduced (Fisher), reduced against random (binomial), both exact."
    yield "Cannot tell: original / reduced / preference."
    for role, f1 in found.overall.f1.items():
        yield f"F1 of the words, {role}: {f1:.1%}"
    yield from _agreed(found.agreement)
    yield from found.warnings


def _agreed(agreement: Mapping[Any, float | None]) -> Iterable[str]:
    known = {role: alpha for role, alpha in agreement.items() if alpha is not None}
    if known:
        yield "Agreement (Krippendorff's alpha): " + ", ".join(f"{role} {alpha:.2f}" for role, alpha in known.items())
