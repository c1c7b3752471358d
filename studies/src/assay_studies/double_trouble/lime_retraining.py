"""Table A6: what models still learn without the words that LIME, LIME_BERT or LIME_BERT_SST2 ranks highest.

As Table 2, with a third metric that fills by the masked language model trained on SST-2; where that is not trained, it
and LIME_BERT_SST2 are left out. LIME draws `roar_lime_samples` samples of each training text, not 1,000. Models that
Table 2 has trained alike, on whole texts and without random words, are taken from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.checks.trained_models import RANDOM
from assay.methods.input_features.lime import Lime
from assay.questions.erasers import eraser
from assay.registry.cards import distinct_name
from assay.registry.finding import find_method
from assay_studies.claims import Claim, claim, lower
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.retraining import (
    ERASERS,
    accuracies,
    accuracy_table,
    commonest,
    gaps,
    judged_accuracies,
    retrained,
    size,
)
from assay_studies.double_trouble.tasks import PAPER, Task, is_sst2
from assay_studies.specification import PartSpec, Subject, on_each

_TITLE = "Table A6: accuracy in per cent after retraining without the best words of LIME"
_LEFT_OUT = (
    "Table A6 (ROAR of LIME) was left out: `--size roar_train=6000 --size roar_lime=3` makes it, after Table 2, with "
    "6,000 training texts and all three metrics."
)
_ERASERS = {"LIME": "delete", "LIME_BERT": "resample", "LIME_BERT_SST2": f"resample:{FURTHER}"}


def _measure(task: Task) -> Subject:
    limes = limes_of(task)
    chosen = {name: (named(method), method) for name, method in limes.items()}
    found = {metric: retrained(task, metric, chosen) for metric in metrics_of(task)}
    names = {**{name: named(method) for name, method in limes.items()}, "Random": RANDOM}
    notes = (f"{size(task)} LIME drew {task.sizes.roar_lime_samples:,} samples of each.",)
    facts = {"found": found, "limes": limes, "commonest": commonest(task)}
    verdicts = judged_accuracies(found)
    return Subject(task.name, task.title, accuracies(found, names), notes, facts, verdicts)


def _left_out(tasks: Sequence[Task]) -> str:
    sizes = tasks[0].sizes
    return "" if sizes.roar_lime and sizes.roar_train and tasks[0].train else _LEFT_OUT


def metrics_of(task: Task) -> list[str]:
    """As many as are wanted; that of the further trained model only if that is there."""
    able = [metric for metric in ERASERS if task.sizes.mlm_train or "SST2" not in metric]
    return able[: task.sizes.roar_lime if task.sizes.roar_filled else 1]


def limes_of(task: Task) -> dict[str, Lime]:
    """The methods by the paper's names; the one that needs the further trained model only if that is there."""
    samples = task.sizes.roar_lime_samples
    made = {name: Lime(samples=samples, eraser=eraser(spec)) for name, spec in _ERASERS.items()}
    return {name: method for name, method in made.items() if task.sizes.mlm_train or "SST2" not in name}


def named(method: Lime) -> str:
    """As a run calls it: with the parameters that are not the usual ones."""
    return distinct_name(find_method("lime"), method)


def _claims(subject: Subject) -> Iterator[Claim]:
    limes: Mapping[str, Lime] = subject.facts["limes"]
    plain = ("LIME", named(limes["LIME"]))
    for name in limes:
        if name != "LIME":
            yield claim(
                f"SST-2: under every ROAR {name} is better than LIME (section 6.2)",
                *gaps(subject.facts["found"], (name, named(limes[name])), plain, lower, subject.facts["commonest"]),
                digits=2,
                key="roar_lime",
                about=f"SST-2, {name}",
            )


PART = PartSpec(
    name="table_a6",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_sst2,
    left_out=_left_out,
    tables=[accuracy_table("table_a6", _TITLE)],
    claims=[_claims],
    published=PAPER,
)
