"""Whether a model forgets a planted cue when the texts that a method finds are not trained on.

The check `information_removal`: a token that says a label stands in a tenth of the training texts; a tenth of the texts
is removed, by a method or at random, and a model is trained again. Han et al. (2020), section 5, arXiv:2005.06676, find
that influential texts of HANS share the lexical cue; Guo et al. (2021), section 5, arXiv:2012.15781, mend a model so.
"""

from __future__ import annotations

from collections.abc import Iterator

import assay
from assay.checks.information_removal import InformationRemoval
from assay.registry.finding import find_method
from assay.statistics.verdict import Verdict
from assay.text.sample import Sample
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.influence.tasks import PAPER, TITLES, Task
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_METHODS = ("influence", "tracin")
_ROWS = {
    **{(key, "drop"): f"{TITLES[key]}: fall of the cue's log-odds" for key in _METHODS},
    ("random", "drop"): "removed at random: fall of the cue's log-odds",
}
_TITLE = "A planted cue, after a tenth of the texts was removed"


def _measure(task: Task) -> Subject:
    task.request.say(f"{task.title}: a planted cue")
    sizes = task.sizes
    sample = task.sample(sizes.planted, "training texts")
    dev = Sample.of(spread(task.dev, sizes.probes), name="dev")
    check = InformationRemoval(recipe=task.recipe(), texts=sizes.probes, draws=sizes.draws)
    names = [task.kind.methods[key] for key in _METHODS]
    methods = [find_method(name).make({k: v for k, v in given.items() if k != "checkpoints"}) for name, given in names]
    found = assay.check(
        None, sample, methods, [check], dev=dev, out=task.store.out / "trained", progress=task.request.progress
    )
    verdicts = dict(zip(_METHODS, found, strict=True))
    measures = {(key, "drop"): Values(one.scores) for key, one in verdicts.items()}
    measures["random", "drop"] = Values(next(iter(verdicts.values())).random_scores.mean(axis=1))
    held = {key: one.facts["cue_rows"] for key, one in verdicts.items()}
    return Subject(task.name, task.title, measures, facts=held, verdicts=_named(verdicts))


def _named(verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
    return {f"Information removal, {TITLES[key]}": one for key, one in verdicts.items()}


def _claims(subject: Subject) -> Iterator[Claim]:
    for key in _METHODS:
        gap = subject.gap((key, "drop"), ("random", "drop"))
        share = f"{subject.facts[key]:.0%} of these hold the cue, 10 % of all"
        yield claim(
            f"{subject.title}: removing what {TITLES[key]} finds ({share}) lowers the use of the cue more than random",
            Evidence("log-odds, more than random", gap, higher),
            digits=2,
            key=f"{key}_forgets",
            about=subject.title,
        )


PART = PartSpec(
    name="removal",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="removal", title=_TITLE, rows=_ROWS, better="higher", digits=2)],
    claims=[_claims],
    published=PAPER,
    wants=lambda task: task.name != "attentive",
)
