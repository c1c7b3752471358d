"""Table A6: what models still learn without the words that LIME, LIME_BERT or LIME_BERT_SST2 ranks highest.

As Table 2, with a third metric that fills by the masked language model trained on SST-2; where that is not trained, it
and LIME_BERT_SST2 are left out. LIME draws `roar_lime_samples` samples of each training text, not 1,000. Models that
Table 2 has trained alike, on whole texts and without random words, are taken from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from assay.methods.input_features.lime import Lime
from assay.questions.erasers import eraser
from assay.registry.parameters import parameters
from assay.workflows.roar.files import RoarFiles, file_name
from assay.workflows.roar.result import RANDOM, RoarResult
from assay_studies.claims import Claim
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.published import TABLE_A6
from assay_studies.double_trouble.retraining import ERASERS, SURE, accuracy, place, retrained, size
from assay_studies.double_trouble.tasks import Task
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

Found = Mapping[str, RoarResult]
_TITLE = "Table A6: accuracy in per cent after retraining without the best words of LIME"
_LEFT_OUT = (
    "Table A6 (ROAR of LIME) was left out: `--size roar_train=6000 --size roar_lime=1` makes it, after Table 2, with "
    "6,000 training texts."
)
_ERASERS = {"LIME": "delete", "LIME_BERT": "resample", "LIME_BERT_SST2": f"resample:{FURTHER}"}


def part(tasks: Iterable[Task]) -> Part:
    """The accuracies, and whether filling makes LIME better."""
    task = next(task for task in tasks if task.name == "sst2")
    if not (task.sizes.roar_lime and task.sizes.roar_train) or task.train is None:
        return Part("table_a6", _TITLE, notes=(_LEFT_OUT,))
    limes = _limes(task)
    found = {
        metric: _retrained(task, metric, limes) for metric in ERASERS if task.sizes.mlm_train or "SST2" not in metric
    }
    columns = tuple(f"{metric} {share:.0%}" for metric, result in found.items() for share in result.shares)
    lines = [Line(name, tuple(_cells(found, name, method))) for name, method in limes.items()]
    lines.append(Line("Random", tuple(_cells(found, "Random", None))))
    notes = (f"{size(task)} LIME drew {task.sizes.roar_lime_samples:,} samples of each.",)
    table = Table("table_a6", _TITLE, columns, tuple(lines), "lower", 2, notes)
    return Part("table_a6", _TITLE, (table,), tuple(_claim(found, limes, name) for name in limes if name != "LIME"))


def _limes(task: Task) -> dict[str, Lime]:
    """The methods by the paper's names; the one that needs the further trained model only if that is there."""
    samples = task.sizes.roar_lime_samples
    made = {name: Lime(samples=samples, eraser=eraser(spec)) for name, spec in _ERASERS.items()}
    return {name: method for name, method in made.items() if task.sizes.mlm_train or "SST2" not in name}


def _retrained(task: Task, metric: str, limes: Mapping[str, Lime]) -> RoarResult:
    out = task.kept.out / f"{metric.lower()}_lime{_filler(task)}"
    twin = metric if place(task, metric).exists() else "ROAR"
    if not out.exists() and (place(task, twin) / "roar.json").exists():
        _lend(place(task, twin), out, metric, list(map(named, limes.values())), random=twin == metric)
    return retrained(task, metric, list(limes.values()), out)


def _filler(task: Task) -> str:
    """Part of the directory's name, since a run itself does not know by which model words were filled."""
    if not task.sizes.mlm_train:
        return ""
    return "_" + blake2b(task.engine.resolve(FURTHER).fingerprint().encode(), digest_size=4).hexdigest()


def _lend(source: Path, out: Path, metric: str, methods: list[str], *, random: bool) -> None:
    """Begin a run with scores of another; `roar` itself then sees whether they are of the same texts and models."""
    about = json.loads((source / "roar.json").read_text(encoding="utf-8"))
    check = {**about["check"], "eraser": ERASERS[metric]}
    files = RoarFiles.made(out, {**about, "methods": methods, "check": check})
    for name in ("whole", RANDOM) if random else ("whole",):
        for path in (source / "scores").glob(f"{file_name(name)}-*.json"):
            files.put(f"scores/{path.name}", json.loads(path.read_text(encoding="utf-8")))


def named(method: Lime) -> str:
    """As a run calls it: with the parameters that are not the usual ones."""
    usual = parameters(Lime())
    own = [f"{name}={value}" for name, value in parameters(method).items() if value != usual[name]]
    return f"lime({', '.join(own)})" if own else "lime"


def _cells(found: Found, name: str, method: Lime | None) -> Iterator[Cell]:
    for metric, result in found.items():
        published = TABLE_A6.get((metric, name), ("",) * len(result.shares))
        for share, printed in zip(result.shares, published, strict=True):
            yield Cell(accuracy(result, named(method) if method else RANDOM, share), printed)


def _claim(found: Found, limes: Mapping[str, Lime], name: str) -> Claim:
    """Consistently: lower everywhere, and somewhere by more than chance; turned down where it is surely higher."""
    one, other = named(limes[name]), named(limes["LIME"])
    tests = [
        (m, q, 100 * (r.at(one, q).mean - r.at(other, q).mean), r.p(one, other, q))
        for m, r in found.items()
        for q in r.shares
    ]
    sure = [gap for _, _, gap, p in tests if p <= SURE / len(tests)]
    lower = all(gap < 0 for _, _, gap, _ in tests) and bool(sure)
    said = "; ".join(f"{metric} {q:.0%}: {name} - LIME {gap:+.2f}, p = {p:.3f}" for metric, q, gap, p in tests)
    holds = False if any(gap > 0 for gap in sure) else lower or None
    return Claim(f"SST-2: under every ROAR {name} is better than LIME (section 6.2)", holds, said)
