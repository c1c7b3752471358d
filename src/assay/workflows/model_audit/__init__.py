"""The verb `audit`: one page on a whole model, for somebody who has to answer for it.

    audit = assay.audit("sst2", "reviews.csv", label="label", groups=["source"], quick=True)
    print(audit); audit.part("biases").rows; audit.to_html(); audit.to_json()

Each part is a question (`questions/`), asked by methods and tests that exist by themselves; what the model or the file
cannot answer is on the page with the reason. With `out` every finished part is kept there, so that an audit that was
stopped goes on with the part it was in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import Any

from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput
from assay.models import TextModel, load
from assay.progress import track
from assay.registry.finding import methods
from assay.registry.provenance import versions
from assay.storage.parts import PartsFolder
from assay.text.sample import Sample
from assay.workflows.model_audit.asking import FULL, QUICK, AuditContext
from assay.workflows.model_audit.part import NOT_ASKED, AuditPart, listed
from assay.workflows.model_audit.questions import (
    attacks,
    biases,
    by_group,
    explanations,
    identity,
    layers,
    pathologies,
)
from assay.workflows.model_audit.result import ModelAudit

__all__ = ["AuditPart", "ModelAudit", "audit"]

Ask = Callable[[AuditContext], AuditPart]
_QUESTIONS: dict[str, tuple[str, Ask]] = {
    "identity": (identity.QUESTION, identity.identity),
    "by_group": (by_group.QUESTION, by_group.by_group),
    "biases": (biases.QUESTION, biases.biases),
    "pathologies": (pathologies.QUESTION, pathologies.pathologies),
    "attacks": (attacks.QUESTION, attacks.attacks),
    "explanations": (explanations.QUESTION, explanations.explanations),
    "layers": (layers.QUESTION, layers.layers),
}
# Describing methods that an audit does not ask: each needs something that no file of texts has, or much time.
_NOT_ASKED = {
    "natural_indirect_effect": "needs pairs of texts that differ in one concept, and takes long",
    "projection": "is a picture of words to look at, without a verdict",
    "rotation": "is a list of words to look at; `assay people` asks whether they belong together",
    "compositional_neurons": "takes long",
    "sp_lime": "chooses texts to look at, without a verdict",
}


@with_threads
def audit(
    model: Any,
    sample: Any,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    groups: Sequence[str] = (),
    quick: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
) -> ModelAudit:
    """Every description and test that fits the model, as one result with one overall answer.

    `sample` is what `describe` takes: a path, a frame, a list of texts or of (text, label); `text`, `pair` and `label`
    name its columns, `groups` further ones by which accuracy is shown. `quick` asks a tenth. `out` is a directory that
    keeps finished parts and takes them up again.
    """
    if isinstance(groups, str):
        raise BadInput(f"groups is a list of columns: [{groups!r}].")
    engine = engine or Engine(load(model, device=device))
    found = Sample.of(sample, text=text, pair=pair, label=label).require_rows()
    context = AuditContext(engine, found, QUICK if quick else FULL, tuple(groups), seed, False)
    if not context.rows:  # read before anything is asked: a column that is missing ends the audit here
        raise BadInput(f"no row of {found.name} can be read.")
    settings = _settings(context, quick)
    with nullcontext() if out is None else PartsFolder(Path(out)).held(settings) as folder:
        parts = tuple(
            _part(context, folder, name) for name in track(list(_QUESTIONS), len(_QUESTIONS), "auditing", progress)
        )
    return ModelAudit(engine.model.name, found.name, parts, settings, tuple(_left_out(engine.model)))


def _settings(context: AuditContext, quick: bool) -> dict[str, Any]:
    """What every part depends on: parts of another model, file, seed or version are not taken up."""
    return {
        "model": context.model.name,
        "weights": context.model.fingerprint(),
        "sample": context.sample.name,
        "texts": context.sample.digest,
        "groups": list(context.groups),
        "quick": quick,
        "seed": context.seed,
        "versions": dict(versions()),
    }


def _part(context: AuditContext, folder: PartsFolder | None, name: str) -> AuditPart:
    """A part that was kept, or one that is asked now."""
    kept = folder.get(name) if folder else None
    if kept is not None:
        return AuditPart.from_dict(kept)
    start = monotonic()
    question, ask = _QUESTIONS[name]
    try:
        found = ask(context)
    except AssayError as error:
        found = AuditPart(name, question, NOT_ASKED, _sentence(str(error)))
    found = found.took(round(monotonic() - start, 1))
    if folder:
        folder.put(name, found.to_dict())
    return found


def _sentence(why: str) -> str:
    """With a capital, unless it begins with a name, as that of a method."""
    name = "_" in why.partition(" ")[0]
    return f"{why if name else why[:1].upper() + why[1:]}".rstrip(".") + "."


def _left_out(model: TextModel) -> Iterator[tuple[str, str]]:
    """Whole-model methods that no part asks, and why; of those that could not ask this model, that."""
    cards = methods()
    for name, why in _NOT_ASKED.items():
        if name in cards:
            missing = [question.__name__ for question in cards[name].needs if question not in model.answers]
            yield name, f"asks for {listed(missing)}, which {model.name} cannot answer" if missing else why
