"""What the page about a run says, counted in one pass over its shards, in bounded memory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from textwrap import shorten
from typing import Any

import numpy as np

from assay.registry.finding import find_check
from assay.runs import journal
from assay.runs.lexicon import Lexicons
from assay.runs.plan import RunPlan
from assay.runs.schema import explanation_of
from assay.runs.store import Run
from assay.statistics.ranks import kendall
from assay.verdicts.naming import method_name
from assay.views.proof import check_title
from assay.views.report import AgreementTable, ExampleRow, Failure, MethodCost, Report
from assay.views.say import counted, number

_SHOWN, _COMPARED = 2, 500
_UNITS = ("words", "whitespace")
_COUNTS = ("sequences", "forwards", "backwards", "tokens", "hits")


def report(run: Run) -> Report:
    """The page's data; of an unfinished run, what is there."""
    tally = _Tally(run.plan)
    for record in run.records():
        tally.add(record)
    settings = run.plan.settings
    return Report(
        title=f"{counted(tally.rows, 'row')} explained by {', '.join(map(method_name, run.plan.methods))}",
        facts=tuple(_facts(run, tally)),
        verdicts=tuple(run.verdicts()),
        words=tuple(tally.lexicons.lists()) if settings["explained"]["split"] in _UNITS else (),
        agreement=tally.agreement(),
        examples=tuple(tally.examples()),
        failures=tuple(tally.failures()),
        costs=tuple(tally.costs(_seconds(run))),
        notes=tuple(_notes(run, tally)),
    )


def _notes(run: Run, tally: _Tally) -> Iterator[str]:
    if not run.done:
        yield f"This run is not done: {tally.rows:,} of {run.plan.rows:,} rows are here."
    if run.plan.settings["explained"]["split"] not in _UNITS:
        yield "The units are longer than words and seldom come twice, so there is no list of the ones that matter most."


def _facts(run: Run, tally: _Tally) -> Iterator[tuple[str, str]]:
    settings, plan = run.plan.settings, run.plan
    yield "input", f"{plan.notes['input']}, {counted(plan.rows, 'row')}"
    yield "model", f"{settings['model']['name']} ({', '.join(settings['model']['labels'][:12])})"
    for kind in ("methods", "checks"):
        for name, chosen in settings[kind].items():
            shown = shorten(", ".join(f"{key} {value}" for key, value in chosen.items()), 160, placeholder=" …")
            yield kind[:-1], f"{name}{f' ({shown})' if shown else ''}"
    explained = settings["explained"]
    units = "" if explained["split"] == "words" else f", units {explained['split']}"
    scale, label = explained["scalar"].replace("_", "-"), explained["target"] or "the predicted label"
    yield "explained", f"the {scale} of {label}{units}"
    if tally.labelled:
        yield "labels", f"the model agrees with {tally.right / tally.labelled:.1%} of {tally.labelled:,} labels"
    if tally.strange:
        yield "labels", f"{counted(tally.strange, 'label')} unknown to the model, such as {tally.example!r:.40}"
    versions = ", ".join(f"{name} {version}" for name, version in settings["versions"].items())
    yield "made by", f"{versions}; seed {settings['seed']}, device {settings['device']}, plan {plan.digest[:12]}"


@dataclass
class _Extremes:
    """The rows with the largest and the smallest value."""

    high: list[tuple[float, int, Mapping[str, Any]]] = field(default_factory=list)
    low: list[tuple[float, int, Mapping[str, Any]]] = field(default_factory=list)

    def add(self, value: float, record: Mapping[str, Any]) -> None:
        self.high = nlargest(_SHOWN, [*self.high, (value, -record["row"], record)], key=_order)
        self.low = nlargest(_SHOWN, [*self.low, (-value, -record["row"], record)], key=_order)


def _order(entry: tuple[float, int, Any]) -> tuple[float, int]:
    return entry[:2]


class _Tally:
    """Counts over the rows of a run."""

    def __init__(self, plan: RunPlan) -> None:
        self.plan, self.lexicons = plan, Lexicons()
        self.rows = self.labelled = self.right = self.strange = 0
        self.example = ""
        names = plan.settings["model"]["labels"]
        self.names = {str(i): name for i, name in enumerate(names)} | {name: name for name in names}
        self.extremes: dict[str, _Extremes] = defaultdict(_Extremes)
        self.errors: dict[tuple[str, str], list[Any]] = {}
        self.sums: dict[str, dict[str, int]] = {m: dict.fromkeys(("rows", *_COUNTS), 0) for m in plan.methods}
        self.taus: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.compared = 0
        self.step = max(1, plan.rows // _COMPARED)
        self.maps: dict[str, Any] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        sums = self.sums[record["method"]]
        sums["rows"] += 1
        for name in _COUNTS:
            sums[name] += record[name]
        if record["method"] == self.plan.methods[0]:
            self._begin_row(record)
        if record["status"] == "ok":
            self._explained(record)
        else:
            self._failed(record)
        if record["method"] == self.plan.methods[-1]:
            self._compare()

    def _begin_row(self, record: Mapping[str, Any]) -> None:
        self.rows += 1
        self.maps = {}
        if record["label"] is not None and record["predicted"] is not None:
            self._compare_label(record["label"], record["predicted"])

    def _compare_label(self, label: str, predicted: str) -> None:
        """By name or number; what is neither is a label that the model cannot get right."""
        known = self.names.get(label) if self.names else label  # a model that answers freely knows all
        if known is not None:
            self.labelled += 1
            self.right += known == predicted
        else:
            self.strange, self.example = self.strange + 1, self.example or label

    def _explained(self, record: Mapping[str, Any]) -> None:
        signed = json.loads(record["more"])["facts"].get("signed", True)
        self.lexicons.add(record, signed)
        if (value := self._strength(record)) is not None:
            self.extremes[record["method"]].add(value, record)
        if record["row"] % self.step == 0 and record["scores"] is not None:
            self.maps[record["method"]] = np.array(record["scores"])

    def _strength(self, record: Mapping[str, Any]) -> float | None:
        """How far an explanation is ahead of random ones under the first check; without checks, its largest score."""
        if self.plan.checks:
            result = next((one for one in record["checks"] if one["check_name"] == self.plan.checks[0]), None)
            if result is None or result["score"] is None:
                return None
            sign = 1 if find_check(self.plan.checks[0]).better == "higher" else -1
            return float(sign * (result["score"] - np.mean(result["random"])))
        return float(np.abs(record["scores"]).max()) if record["scores"] else None

    def _failed(self, record: Mapping[str, Any]) -> None:
        known = self.errors.setdefault((record["method"], record["error"]), [0, record["id"], record["message"]])
        known[0] += 1

    def _compare(self) -> None:
        """The order of the words of one text under each pair of methods; where the units differ there is none."""
        if len(self.maps) < 2 or len({len(scores) for scores in self.maps.values()}) > 1:
            return
        if len(next(iter(self.maps.values()))) < 2:
            return
        self.compared += 1
        for a, one in self.maps.items():
            for b, other in self.maps.items():
                self.taus[a, b].append(kendall(one, other).value)

    def agreement(self) -> AgreementTable | None:
        names = tuple(name for name in self.plan.methods if any(name in pair for pair in self.taus))
        if len(names) < 2:
            return None
        table = tuple(tuple(float(np.mean(self.taus[a, b] or [0.0])) for b in names) for a in names)
        return AgreementTable(names, table, self.compared)

    def examples(self) -> Iterator[ExampleRow]:
        for found in self.extremes.values():
            for strong, side in ((True, found.high), (False, found.low)):
                for value, _, record in side:
                    e = explanation_of(record)
                    yield ExampleRow(e, self._why(value if strong else -value), record["id"], strong)

    def _why(self, value: float) -> str:
        if not self.plan.checks:
            return f"largest score {number(value)}"
        side = "ahead of" if value > 0 else "behind"
        return f"{check_title(self.plan.checks[0])}: {number(abs(value))} {side} random maps"

    def failures(self) -> Iterator[Failure]:
        for (method, error), (count, name, message) in sorted(self.errors.items(), key=lambda one: -one[1][0]):
            yield Failure(method, error, count, count / self.rows, name, message)

    def costs(self, seconds: Mapping[str, float]) -> Iterator[MethodCost]:
        for method, s in self.sums.items():
            run, asked = s["forwards"] - s["backwards"], max(1, s["sequences"])
            took = seconds.get(method)
            yield MethodCost(method, s["rows"], run, s["backwards"], s["tokens"], s["hits"] / asked, took)


def _seconds(run: Run) -> dict[str, float]:
    """Seconds for a thousand rows by method, over the shards whose times the journal has."""
    kept = {note["shard"]: note for note in journal.entries(run.directory.path) if note.get("what") == "kept"}
    return {method: _per_thousand(kept.values(), method) for method in run.plan.methods if kept}


def _per_thousand(notes: Iterable[Mapping[str, Any]], method: str) -> float:
    pairs: Sequence[tuple[float, int]] = [(note["seconds"].get(method, 0.0), note["rows"]) for note in notes]
    return 1000 * sum(s for s, _ in pairs) / max(1, sum(rows for _, rows in pairs))
