"""The verb behind the check of the same name: an MLP without context under the attention of other models.

    result = assay.guided_mlp(train, dev, test, how=Attend(vectors="glove"), out="DIR")
    print(result); result.order

See assay.checks.guided_mlp. `how` describes the base; the MLPs are the same with encoder="average".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay.checks.guided_mlp import GuidedMlp
from assay.checks.trained_adversary import TrainedAdversary
from assay.registry.finding import checks
from assay.registry.parameters import parameters
from assay.statistics.intervals import Estimate
from assay.statistics.scoring import Scored
from assay.workflows.attention_tests.split import Labelled, splits

if TYPE_CHECKING:
    from assay.training.attentive import Attend
    from assay.training.observed import Observed
    from assay.workflows.attention_tests.workshop import Base, Workshop

UNIFORM, TRAINED, BASE, ADVERSARY = "uniform", "trained MLP", "base", "adversary"
PUBLISHED = (BASE, TRAINED, UNIFORM)  # from the best to the worst


@dataclass(frozen=True, eq=False, kw_only=True)
class GuidedResult:
    """The MLPs under each guide, by name."""

    guides: Mapping[str, Scored]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> list[str]:
        """The guides from the highest F1 to the lowest."""
        return sorted(self.guides, key=lambda name: -self.guides[name].f1.value)

    @property
    def as_published(self) -> bool:
        """Whether F1 falls from base to trained MLP to uniform; `steps` say how sure that is."""
        return all(step.value > 0 for step in self.steps().values())

    def steps(self) -> dict[tuple[str, str], Estimate]:
        """How much higher F1 is from one guide of the published order to the next."""
        return {(a, b): self.guides[a].above(self.guides[b]) for a, b in pairwise(PUBLISHED)}

    def table(self) -> list[dict[str, Any]]:
        """One row per guide."""
        return [{"guide": name, "f1": one.f1, "accuracy": one.accuracy} for name, one in self.guides.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        guides = {name: one.to_dict() for name, one in self.guides.items()}
        return {"check": "guided_mlp", "guides": guides, "parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        guides = {name: Scored.from_dict(one) for name, one in data["guides"].items()}
        return cls(guides=guides, parameters=data["parameters"])

    def __str__(self) -> str:
        rows = (f"{r['guide']:12} F1 {r['f1'].shown()}, accuracy {r['accuracy'].shown()}" for r in self.table())
        steps = (f"{a} - {b}: F1 {step.shown(sign='+')}" for (a, b), step in self.steps().items())
        held = "holds" if self.as_published else "does not hold"
        return "\n".join([*rows, *steps, f"the published order {' > '.join(PUBLISHED)} {held} here"])


def guided_mlp(
    train: Sequence[Labelled],
    dev: Sequence[Labelled] | None,
    test: Sequence[Labelled],
    *,
    base: Any = None,
    how: Attend | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> GuidedResult:
    """Train an MLP under each guide, and compare F1 on test.

    Rows are (text, label) pairs or Examples. The epoch is chosen on dev; None keeps the last. `base` is an attentive
    model; None trains it. `out` keeps the models, and the same call goes on from there. `settings` are those of the
    check: seeds, adversary (its lambda), and the adversary's epochs and patience.
    """
    from assay.workflows.attention_tests.workshop import workshop  # torch is slow to import

    check: GuidedMlp = checks()["guided_mlp"].make(settings)
    shop = workshop(splits(train, dev, test), how, out, progress)
    guided = _guided(shop, shop.base(base, check.seeds[0]), check)
    found = {name: _scored(seen, shop.test.labels) for name, seen in guided}
    return GuidedResult(guides=found, parameters=parameters(check))


def _guided(shop: Workshop, base: Base, check: GuidedMlp) -> Iterator[tuple[str, list[Observed]]]:
    """The MLPs of all seeds on test, guide by guide."""
    from assay.workflows.attention_tests.workshop import Base, told

    def each(name: str) -> Iterator[int]:
        return told(check.seeds, len(check.seeds), f"guided by {name}")

    yield UNIFORM, [shop.seen(shop.model(s, encoder="average", attention="uniform")) for s in each(UNIFORM)]
    yield TRAINED, [shop.seen(shop.model(s, encoder="average")) for s in each(TRAINED)]
    yield BASE, [shop.guided("base", base, s) for s in each(BASE)]
    if check.adversary is not None:
        how = TrainedAdversary(epochs=check.epochs, patience=check.patience, seed=check.seeds[0])
        rival = Base(shop, shop.adversary(base, check.adversary, how))
        yield ADVERSARY, [shop.guided(f"adversary-{check.adversary:g}", rival, s) for s in each(ADVERSARY)]


def _scored(seen: list[Observed], gold: list[str]) -> Scored:
    return Scored.of(seen[0].labels, gold, [one.predicted for one in seen])
