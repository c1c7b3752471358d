"""The verbs that are called like checks of a whole sample: the same arguments as ever, and the check's own result.

    result = assay.roar(model, train, dev, ["leave_one_out", "lime"], trainer="finetune", out="DIR")
    result = assay.uniform_attention(train, dev, test, how=Attend(vectors="glove"), out="DIR")

Rows are (text, label) pairs, Examples, or a Sample. `out` is the directory of the trained models: the same call goes on
from there after a kill, and verbs that are given the same one share their models. `threads` is how many compute, as for
`explain`; a model that is given may be loaded to a device first. `settings` are those of the check.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.checks.guided_mlp import GuidedResult
from assay.checks.roar import RoarResult
from assay.checks.seed_variance import SeedResult
from assay.checks.trained_adversary import AdversaryResult
from assay.checks.uniform_attention import UniformResult
from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import BadInput
from assay.registry.finding import find_check, resolve_method
from assay.request import MethodLike, ModelLike
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import TextLike
from assay.training.recipes import Trainer, recipe
from assay.verdicts.sample_checks import SampleRequest

if TYPE_CHECKING:
    from assay.training.attentive import Attend

Labelled: TypeAlias = Sequence[tuple[TextLike, str] | Example] | Sample
Place: TypeAlias = str | Path | None


@with_threads
def roar(
    model: ModelLike,
    train: Labelled,
    dev: Labelled,
    methods: Sequence[MethodLike],
    *,
    trainer: str | Trainer,
    out: Place = None,
    device: str | None = None,
    threads: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RoarResult:
    """Retrain without the words that each method ranks highest, and compare the accuracies: `assay.checks.roar`.

    `model` is what is explained; None takes one that the trainer makes of the whole texts. `trainer` is words,
    finetune, finetune:MODEL or an object (assay.training.recipes).
    """
    if isinstance(methods, str):
        raise BadInput("methods are a list of names or of methods, such as ['lime', 'leave_one_out'].")
    chosen = [resolve_method(one) for one in methods]
    given: dict[str, Any] = {"sample": train, "dev": dev, "model": model, "methods": chosen, "engine": engine}
    request = SampleRequest(**given, seed=seed, out=out, device=device, progress=progress)
    found: RoarResult = _result(request, "roar", {**settings, "recipe": recipe(trainer)})
    return found


@with_threads
def uniform_attention(
    train: Labelled,
    dev: Labelled | None,
    test: Labelled,
    *,
    how: Attend | None = None,
    out: Place = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> UniformResult:
    """Train with learned and with uniform attention, and compare F1 on test: `assay.checks.uniform_attention`.

    The epoch is chosen on dev; None keeps the last.
    """
    request = SampleRequest(sample=train, dev=dev, test=test, out=out, progress=progress)
    found: UniformResult = _result(request, "uniform_attention", settings, how)
    return found


@with_threads
def seed_variance(
    train: Labelled,
    dev: Labelled | None,
    test: Labelled,
    *,
    base: ModelLike = None,
    how: Attend | None = None,
    out: Place = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> SeedResult:
    """Train the same model under other seeds, and compare each with the base on test: `assay.checks.seed_variance`.

    The epoch is chosen on dev; None keeps the last. `base` is an attentive model trained as `how` says; None trains it.
    """
    request = SampleRequest(sample=train, dev=dev, test=test, model=base, out=out, progress=progress)
    found: SeedResult = _result(request, "seed_variance", settings, how)
    return found


@with_threads
def guided_mlp(
    train: Labelled,
    dev: Labelled | None,
    test: Labelled,
    *,
    base: ModelLike = None,
    how: Attend | None = None,
    out: Place = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> GuidedResult:
    """Train an MLP under the attention of other models, and compare F1 on test: `assay.checks.guided_mlp`.

    The epoch is chosen on dev; None keeps the last. `base` is an attentive model; None trains it.
    """
    request = SampleRequest(sample=train, dev=dev, test=test, model=base, out=out, progress=progress)
    found: GuidedResult = _result(request, "guided_mlp", settings, how)
    return found


@with_threads
def trained_adversary(
    base: ModelLike,
    train: Labelled,
    test: Labelled,
    *,
    dev: Labelled | None = None,
    how: Attend | None = None,
    out: Place = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> AdversaryResult:
    """Train a model away from the base for each lambda, and compare both on test: `assay.checks.trained_adversary`.

    `base` is an attentive model or its directory; None trains one as `how` says, its epoch chosen on dev.
    """
    request = SampleRequest(sample=train, dev=dev, test=test, model=base, out=out, progress=progress)
    found: AdversaryResult = _result(request, "trained_adversary", settings, how)
    return found


def _result(request: SampleRequest, name: str, settings: dict[str, Any], how: Attend | None = None) -> Any:
    card = find_check(name)
    made = card.make(settings if how is None else {**settings, "recipe": how})
    return request.result(card, made)
