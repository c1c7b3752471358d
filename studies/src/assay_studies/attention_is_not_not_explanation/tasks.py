"""The datasets of the study, and the four tests on each, kept in its directory.

DIR/models/DATASET/...          every model that a test trains; tests share them
DIR/results/DATASET-TEST.json.gz    what a test found
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from assay.checks.guided_mlp import GuidedResult
from assay.checks.seed_variance import SeedResult, SeedVariance
from assay.checks.trained_adversary import AdversaryResult, TrainedAdversary
from assay.checks.uniform_attention import UniformResult
from assay.errors import BadInput
from assay.training.adversary import Variant
from assay.training.attentive import Attend
from assay.verdicts.sample_verbs import guided_mlp, seed_variance, trained_adversary, uniform_attention
from assay_studies.attention_is_not_explanation.tasks import RECIPES, TITLES
from assay_studies.attention_is_not_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_not_explanation.sought import Sought, sought
from assay_studies.attention_is_not_not_explanation.sweeps import Sweeps
from assay_studies.attention_models import AttentionModels
from assay_studies.data.jain_wallace import Split, read
from assay_studies.published import published
from assay_studies.request import Request
from assay_studies.samples import spread_or_all
from assay_studies.store import Store

PAPER = published("attention_is_not_not_explanation")
DATASETS = ("sst", "imdb", "newsgroups", "ag_news")
LAYOUT = "sst/jw_sst_dataset.csv, imdb/, newsgroups20/ and ag_news/ (those of the wanted datasets)"
_TABLE_4 = {"sst": (5.25e-4,), "imdb": (8e-4,)}
_PUBLISHED_EPOCHS = 8
_PRINTED_ADVERSARY_EPOCHS, _OF_SST = 40, 80
VARIANT: Variant = "released"  # of two labels one counts in the TVD: so the printed lambdas do what they do there
R = TypeVar("R", AdversaryResult, GuidedResult, SeedResult, UniformResult, Sought)


@dataclass(frozen=True, eq=False)
class Task:
    """One dataset."""

    dataset: str
    split: Split
    request: Request
    sizes: Sizes
    store: Store

    @property
    def name(self) -> str:
        return self.dataset

    @property
    def title(self) -> str:
        return TITLES[self.dataset]

    @cached_property
    def how(self) -> Attend:
        own, plain = RECIPES[self.dataset], Attend()
        epochs = getattr(self.sizes, f"{self.dataset}_epochs", self.sizes.epochs)
        plan = replace(plain.plan, epochs=epochs)
        made: dict[str, Any] = {
            "rarest": own.rarest,
            "batch": own.batch,
            "hidden": own.hidden,
            "vectors": own.vectors if self.sizes.glove else None,
        }
        return replace(plain, **made, plan=plan, device=self.request.device)

    @property
    def out(self) -> Path:
        """Where its models go."""
        return self.store.out / "models" / self.dataset

    @cached_property
    def uniform(self) -> UniformResult:
        return self._known(UniformResult, uniform_attention, *self.data, seeds=seeds_of(self.sizes.uniform_seeds))

    @cached_property
    def seeds(self) -> SeedResult:
        chosen = SeedVariance().seeds[: max(1, self.sizes.seeds)]
        return self._known(SeedResult, seed_variance, *self.data, seeds=chosen)

    @cached_property
    def guided(self) -> GuidedResult:
        seeds = seeds_of(self.sizes.guide_seeds)
        return self._known(GuidedResult, guided_mlp, *self.data, seeds=seeds, **self.opposed)

    @cached_property
    def adversaries(self) -> AdversaryResult:
        """Those of the first seed."""
        return self.sweep(seeds_of(1)[0])

    @cached_property
    def sweeps(self) -> Sweeps:
        """The adversaries of every seed."""
        others = (self.sweep(seed) for seed in seeds_of(self.sizes.adversary_seeds)[1:])
        return Sweeps((self.adversaries, *others))

    def sweep(self, seed: int) -> AdversaryResult:
        """The adversaries of one seed."""
        train, dev, test = self.data
        more = {"dev": dev, "lambdas": self.lambdas, **self.opposed}
        if seed == seeds_of(1)[0]:
            return self._known(AdversaryResult, trained_adversary, None, train, test, **more)
        how = {"how": self.how, "out": self.out, "progress": self.request.progress, **more}
        make = partial(trained_adversary, None, train, test, seed=seed, **how)
        own = {"lambdas": self.lambdas, **self.opposed, "seed": seed}
        return self._once(AdversaryResult, f"trained_adversary-{seed}", make, own)

    @cached_property
    def chosen_on_test(self) -> AdversaryResult:
        """The adversary of lambda 0, its epoch chosen on the test texts, as the paper prints."""
        train, dev, test = self.data
        how = {"how": self.how, "out": self.out, "progress": self.request.progress, "dev": dev, **self.opposed}
        make = partial(trained_adversary, None, train, test, lambdas=(0.0,), choose="test", **how)
        return self._once(AdversaryResult, "chosen_on_test", make, {**self.opposed, "choose": "test"})

    @cached_property
    def models(self) -> AttentionModels:
        """Its models one by one."""
        return AttentionModels.of(*self.data, self.how, self.out)

    @cached_property
    def sought(self) -> Sought:
        def make() -> Sought:
            base = self.models.opened(self.models.model(seeds_of(1)[0]))
            return sought(base, self.split.test, max(1, self.sizes.sought), self.request.progress)

        return self._once(Sought, "sought", make, {"sought": self.sizes.sought})

    @property
    def opposed(self) -> dict[str, Any]:
        """How adversaries are trained."""
        epochs = getattr(self.sizes, f"{self.dataset}_adversary_epochs", self.sizes.adversary_epochs)
        return {"epochs": epochs, "patience": self.sizes.patience, "variant": VARIANT}

    @property
    def lambdas(self) -> tuple[float, ...]:
        """As many as wanted, the largest among them; where all are, that of the paper's Table 4 too."""
        known = TrainedAdversary().lambdas
        count = max(1, min(self.sizes.lambdas, len(known)))
        some = (known[round(i * (len(known) - 1) / max(1, count - 1))] for i in range(count))
        own = _TABLE_4.get(self.dataset, ()) if count == len(known) else ()
        return tuple(sorted({*some, *own}))

    @property
    def afterwards(self) -> str:
        """What a verdict tells of a setting that was chosen after the test numbers were seen."""
        epochs = self.how.plan.epochs
        if self.dataset != "newsgroups" or epochs <= _PUBLISHED_EPOCHS:
            return ""
        return f"{epochs} epochs, not the published {_PUBLISHED_EPOCHS}; chosen after the test numbers were seen"

    @property
    def stopped_early(self) -> str:
        """How long adversaries train where that is less than the paper says."""
        printed = _OF_SST if self.dataset == "sst" else _PRINTED_ADVERSARY_EPOCHS
        epochs = self.opposed["epochs"]
        return f"; {epochs} of the printed {printed} epochs" if epochs < printed else ""

    @property
    def data(self) -> tuple[Any, Any, Any]:
        return spread_or_all(self.split.train, self.sizes.train), self.split.dev or None, self.split.test

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Of its parts, which the sizes decide too; each result has fewer, see `_once`."""
        return {**self._base, "opposed": self.opposed, "lambdas": self.lambdas}

    @property
    def _base(self) -> dict[str, Any]:
        """What decides the models that the tests share."""
        data = {"texts": len(self.split.train), "test": len(self.split.test), "train": self.sizes.train}
        return {**self.how.settings, **data}

    def _known(self, kind: type[R], test: Callable[..., R], *data: Any, **settings: Any) -> R:
        """What the test found. Models are kept too, so that tests share them."""
        how = {"how": self.how, "out": self.out, "progress": self.request.progress}
        own = {name: value for name, value in settings.items() if name != "dev"}  # the base has that of its dataset
        return self._once(kind, test.__name__, lambda: test(*data, **how, **settings), own)

    def _once(self, kind: type[R], name: str, make: Callable[[], R], own: Mapping[str, Any]) -> R:
        """From the directory, or made now and kept; `own` are the settings of this result beside those of the base.

        So runs of some tests each, on several machines, can be put together into one directory.
        """
        settings, file = {**self._base, "own": own}, f"{self.dataset}-{name}"
        if (known := self.store.data("results", file, settings)) is not None:
            return kind.from_dict(known)
        self.request.say(f"{self.title}: {name}")
        found = make()
        self.store.keep_data("results", file, settings, found.to_dict())
        return found


def seeds_of(count: int) -> tuple[int, ...]:
    """That of the base, and as many of the others as are wanted: tests that take the same ones share their models."""
    known = SeedVariance()
    return (known.base_seed, *known.seeds)[: max(1, count)]


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """The wanted datasets."""
    wanted = [name for name in DATASETS if getattr(sizes, name)]
    if not wanted:
        raise BadInput("the study has no dataset left: give one of them the size 1.")
    return [Task(name, read(name, request.directory(LAYOUT)), request, sizes, store) for name in wanted]
