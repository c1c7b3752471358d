"""Whether to believe a rationale: does it depend on the answer, and does it let one guess the answer?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checks.answer_sensitivity import AnswerSensitivity
from assay.checks.simulatability import Simulatability
from assay_studies.claims import Claim, Evidence, claim, higher, within
from assay_studies.rationales.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_ROWS = {
    "sensitivity": "answer sensitivity, nats a token",
    "loss": "the same rationale, told another answer, nats a token",
    "simulatability": "simulatability (LAS)",
    "from_text": "answers guessed from the text",
    "from_both": "answers guessed from both",
    "from_rationale": "answers guessed from the rationale",
    "another_text": "simulatability (LAS), rationales of other texts",
    "untold": "simulatability (LAS), told no answer",
    "untold_both": "answers guessed from both, told no answer",
}
_GUESSED = ("from_text", "from_both", "from_rationale")
_NO_MORE = 0.1  # nats a token: our limit for a writer that does not depend on the answer
_IDENTICAL = 0.03  # of the answers guessed: our limit for "identical performance"
_TITLE = "Does a rationale depend on the answer, and tell it?"


def _measure(task: Task) -> Subject:
    told = task.written("rationalise")
    sensitive = task.judge(AnswerSensitivity(), told)
    measures = {
        "sensitivity": Values(np.array(sensitive.scores)),
        "loss": Values(np.array(sensitive.facts["loss"])),
    }
    verdicts = {"Answer sensitivity": sensitive.verdict()}
    if task.answered:  # without a model there is nothing to guess
        guessed, untold = (task.judge(Simulatability(), one) for one in (told, task.written("reason")))
        measures["simulatability"] = Values(np.array(guessed.scores))
        measures |= {name: Values(np.array(guessed.facts[name])) for name in _GUESSED}
        measures["another_text"] = Values(np.array(guessed.random_scores))
        measures["untold"] = Values(np.array(untold.scores))
        measures["untold_both"] = Values(np.array(untold.facts["from_both"]))
        verdicts["Simulatability (LAS)"] = guessed.verdict()
        verdicts["Simulatability (LAS), told no answer"] = untold.verdict()
    return Subject(task.name, task.title, measures, verdicts=verdicts)


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: the writer argues for the answer no more readily than for another (10.1)",
        Evidence("nats a token more", subject.estimate("sensitivity"), within(_NO_MORE)),
        Evidence("lost when told another answer", subject.estimate("loss")),
        key="depends",
        about=subject.title,
    )
    if "simulatability" in subject:
        yield claim(
            f"{subject.title}: rationales let a simulator guess the model's answer beyond the text, leakage aside",
            Evidence("LAS, own - another text's", subject.gap("simulatability", "another_text"), higher),
            Evidence("LAS", subject.estimate("simulatability")),
            key="simulatable",
            about=subject.title,
        )
        yield claim(
            f"{subject.title}: rationales that are told the answer let one guess it no better than those that are not",
            Evidence("answers guessed, told - untold", subject.gap("from_both", "untold_both"), within(_IDENTICAL)),
            Evidence("LAS, told - untold", subject.gap("simulatability", "untold")),
            key="identical_performance",
            about=subject.title,
        )


PART = PartSpec(
    name="belief",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="belief", title=_TITLE, rows=_ROWS, better="higher")],
    claims=[_claims],
    published=PAPER,
)
