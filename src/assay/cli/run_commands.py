"""Commands for whole datasets: run, status, query, report."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.executor_options import Address, Executor, Gpus, Workers, how
from assay.cli.requests import request_of
from assay.errors import BadInput
from assay.request import Request
from assay.views.say import counted
from assay.views.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.runs.execution import Execution
    from assay.runs.store import Run
    from assay.statistics.verdict import Verdict

# Options that are called like the fields of Execution.
_EXECUTION = ("out", "shard_size", "threads", "executor", "workers", "gpus_per_worker", "address", "max_error_rate")
_PANEL = "Whole datasets"
_RUN = """[bold]Examples[/bold]

assay run reviews.csv --column text -m leave_one_out -c sufficiency --out reviews.run

assay run reviews.parquet -m gradient --executor ray --workers 4 --out reviews.run

assay status reviews.run

The same command again goes on where the run stopped."""
_QUERY = """[bold]Examples[/bold]

assay query reviews.run "select word, avg(score) from words group by word order by 2 desc limit 20"

assay query reviews.run "select * from verdicts" --json"""


def _input(*names: str, text: str, metavar: str) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel="What is read")


_FILE = "A .parquet, .csv, .tsv, .jsonl or .txt file (.gz, .xz), - for stdin, or a Hugging Face dataset (NAME:SPLIT)."
File = Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)]
Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", "-o", help="The directory of the run.", metavar="DIR", show_default=False)]
IdColumn = Annotated[str | None, _input("--id-column", text="The column of ids; by default row numbers.", metavar="C")]
LabelColumn = Annotated[str | None, _input("--label-column", text="The column of labels, kept as it is.", metavar="C")]
Format = Annotated[str | None, _input("--format", text="How to read stdin: txt, jsonl, csv or tsv.", metavar="F")]
Device = Annotated[str | None, how("--device", text="Where the model runs: cpu, cuda.", metavar="D")]
Threads = Annotated[
    int | None, how("--threads", text="Threads of a worker; by default all cores.", metavar="N", least=1)
]
Size = Annotated[int, how("--shard-size", text="Rows in a shard: the most that a kill can cost.", metavar="N", least=1)]
Rate = Annotated[
    float, how("--max-error-rate", text="Fail at the end if more than this share has errors.", metavar="R", least=0)
]
Log = Annotated[str | None, how("--log", text="Also log to mlflow or wandb.", metavar="NAME[,NAME]")]
Checks = Annotated[str, o._aim("--check", "-c", text="Checks, as `assay checks` lists them.", metavar="NAME[,NAME]")]


@app.command(rich_help_panel=_PANEL, epilog=_RUN)
def run(
    file: File,
    *,
    method: o.Methods,
    out: Out,
    checks: Checks = "",
    parameter: o.Settings = None,
    draws: o.Draws = None,
    model: o.Model = "sst2",
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    form: Format = None,
    limit: o.Limit = None,
    split: o.Split = "words",
    target: o.Target = None,
    against: o.Against = None,
    scalar: o.Scale = "log_odds",
    focus: o.Focus = None,
    tokens: o.Tokens = None,
    seed: o.Seed = 0,
    executor: Executor = "inline",
    workers: Workers = None,
    gpus_per_worker: Gpus = 0.0,
    address: Address = None,
    device: Device = None,
    threads: Threads = None,
    shard_size: Size = 512,
    max_error_rate: Rate = 0.05,
    log: Log = None,
    quiet: o.Quiet = False,
) -> None:
    """Explain and check a whole dataset; if it is killed, the same command resumes it."""
    _run(request_of(locals()), _execution(locals()), o.parts(log) or [], quiet)


def _execution(given: Mapping[str, Any]) -> Execution:
    """How the options say that the run is carried out."""
    from assay.runs.execution import Execution

    return Execution(command=f"assay {shlex.join(sys.argv[1:])}", **{name: given[name] for name in _EXECUTION})


def _run(request: Request, execution: Execution, loggers: list[str], quiet: bool) -> None:
    from assay.runs import observers, open_run
    from assay.runs.observers.lines import Lines
    from assay.runs.observers.terminal import Terminal
    from assay.runs.run import run as go

    if not request.methods:
        raise BadInput("--method needs a name, as listed by `assay methods`.")
    with ExitStack() as stack:
        watchers = [observers.logger(name) for name in loggers]
        if not quiet and sys.stderr.isatty():
            watchers.append(terminal := Terminal())
            stack.callback(terminal.close)
        elif not quiet:
            watchers.append(Lines())
        summary = go(request, execution, watchers)
    if not quiet:
        progress = summary.progress
        counts = f"{counted(progress.kept, 'row')}, {counted(progress.errors, 'error')}"
        output.show(*_verdicts(open_run(execution.out).verdicts()), f"{execution.out}: done, {counts}")
    if summary.error_rate > execution.max_error_rate:
        raise BadInput(
            f"{summary.progress.errors:,} of {summary.cells:,} explanations failed, more than --max-error-rate "
            f"{execution.max_error_rate:g} allows; `assay report {execution.out} --html FILE` shows why. "
            f"Most often: {_most_often(open_run(execution.out))}"
        )


def _most_often(run: Run) -> str:
    """What the failures of a run say most often, in short."""
    failed = Counter(one["message"] or "" for one in run.records(["status", "message"]) if one["status"] != "ok")
    return shorten(" ".join(word for message, _ in failed.most_common(1) for word in message.split()), 300)


def _verdicts(found: Sequence[Verdict]) -> list[RenderableType]:
    """The table of verdicts, where checks were asked for."""
    from assay.views.terminal import verdict_table

    return [verdict_table(found)] if found else []


@app.command(rich_help_panel=_PANEL)
def status(directory: Directory, as_json: o.Json = False) -> None:
    """Show how far a run has got, and how to resume it."""
    from assay.runs.status import status as read

    found = read(directory)
    if as_json:
        output.show_json(json.dumps(asdict(found)))
    else:
        print(*map(visible, found.lines()), sep="\n")  # a command that is broken into lines cannot be copied


@app.command(rich_help_panel=_PANEL, epilog=_QUERY)
def query(
    directory: Directory,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="Over explanations, words, checks and verdicts.")],
    as_json: o.Json = False,
    unsafe: Annotated[
        bool,
        typer.Option(
            "--unsafe", help="Let the SQL read and write files, load extensions, change settings.", metavar=""
        ),
    ] = False,
) -> None:
    """Query a run in SQL (DuckDB); the SQL can only read the run."""
    from assay.runs import open_run
    from assay.runs.query import query as ask
    from assay.views.wide import Records

    held = open_run(directory)
    table = ask(held, sql, unsafe=unsafe)
    if not held.done:
        here = f"{held.kept:,} of {held.plan.rows:,} rows"
        print(f"assay: this run is not done; the answer is about the {here} that are here.", file=sys.stderr)
    if as_json:
        output.show_json(*(json.dumps(record, ensure_ascii=False, default=str) for record in table.to_pylist()))
        return
    output.show(Records(table.column_names, [[_cell(one) for one in row.values()] for row in table.to_pylist()]))


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else visible(str(value))


@app.command(rich_help_panel=_PANEL)
def report(
    directory: Directory,
    html: Annotated[Path, typer.Option("--html", help="The self-contained page to write.", metavar="FILE")],
    quiet: o.Quiet = False,
) -> None:
    """Write one page about a run: verdicts, words, agreement, examples, failures, cost."""
    from assay.runs import open_run
    from assay.runs.report import report as made_of
    from assay.views.report import page

    output.require_place(html, False)
    found = made_of(open_run(directory))
    output.write_page(html, page(found), quiet, *_verdicts(found.verdicts))
