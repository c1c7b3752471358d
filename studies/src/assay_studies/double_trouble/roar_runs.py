"""ROAR in pieces that several processes share: explanations of many training texts, and models one seed at a time.

    DIR/explained/METHOD-3.json.gz     the scores of each word of some thousand texts
    DIR/accuracies/...json.gz          accuracies without the best words, for one metric, method and seed
    DIR/retrained/                     the models, by their digests

What `assay.checks.roar` says of the same request comes out, since its conversations are led here (a test compares
both); but texts are explained once for all metrics, and what is finished stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.checks.roar import Retraining, Roar, RoarResult
from assay.checks.trained_models import RANDOM
from assay.data import sst
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import eraser
from assay.registry.finding import find_method
from assay.registry.parameters import parameters
from assay.registry.protocols import Method
from assay.registry.sample_task import SampleTask
from assay.statistics.accuracies import Retrained
from assay.statistics.arrays import Floats
from assay.text.text import TextLike
from assay.training.recipes import Recipe, recipe
from assay.verbs import explain
from assay_studies.double_trouble.tasks import Task
from assay_studies.samples import spread

CHUNK = 2000  # texts that one process explains at a time
WHOLE = "whole texts"
RANDOM_WORDS: Method = find_method(RANDOM).make()


@dataclass(frozen=True, eq=False)
class KnownScores:
    """A method whose scores are known: it asks nothing."""

    scores: Mapping[tuple[str, ...], Floats]

    def explain(self, case: Case) -> Conversation[TokenScores]:
        yield from ()
        return TokenScores(case, self.scores[tuple(case.text.words)])


@dataclass(frozen=True, eq=False)
class RoarRuns:
    """The texts that are learned from and judged, and what was found of them in the directory of the study."""

    task: Task

    @cached_property
    def samples(self) -> SampleTask:
        assert self.task.train is not None
        train = spread(list(sst.glue(self.task.train)), self.task.sizes.roar_train)
        return SampleTask.of(train, list(self.task.examples))

    @cached_property
    def recipe(self) -> Recipe:
        return recipe(self.task.trainer)

    @cached_property
    def texts(self) -> list[TextLike]:
        assert self.samples.dev is not None
        return [row.text for row in (*self.samples.train, *self.samples.dev)]

    @property
    def chunks(self) -> range:
        return range(-(-len(self.texts) // CHUNK))

    def explained(self, name: str, method: Method, chunk: int) -> list[tuple[list[str], list[float]]]:
        """Words and scores of some of the texts."""
        task, place = self.task, ("explained", f"{name}-{chunk}")
        settings = {**self._settings, **self._of(method), "chunk": [chunk, CHUNK]}
        if (known := task.store.data(*place, settings)) is None:
            task.say(f"{task.title}: explaining training texts by {name}, part {chunk + 1} of {len(self.chunks)}")
            texts: list[Any] = self.texts[chunk * CHUNK : (chunk + 1) * CHUNK]
            made: list[TokenScores] = explain(None, texts, method, engine=task.engine, progress=task.progress)
            known = [(list(e.words), e.scores.tolist()) for e in made]
            task.store.keep_data(*place, settings, known)
        return [(words, scores) for words, scores in known]

    def accuracies(self, metric: str, fills: str, name: str, method: Method, seed: int) -> tuple[list[float], int]:
        """Of the models of one seed, a share of the words each, and how many texts were longer than the window."""
        task, place, settings = self.task, *self._kept(metric, fills, name, method, seed)
        if (known := task.store.data(*place, settings)) is None:
            task.say(f"{task.title}: retraining for {metric} without the words of {name}, seed {seed}")
            known = self._retrained(fills, name, method, seed)
            task.store.keep_data(*place, settings, known)
        return known["accuracies"], known["truncated"]

    def is_known(self, metric: str, fills: str, name: str, method: Method, seed: int) -> bool:
        """Whether these accuracies are in the directory, so that nothing needs to be explained for them."""
        place, settings = self._kept(metric, fills, name, method, seed)
        return self.task.store.data(*place, settings) is not None

    def _kept(
        self, metric: str, fills: str, name: str, method: Method, seed: int
    ) -> tuple[tuple[str, str], dict[str, Any]]:
        """Where accuracies lie, and what they depend on."""
        settings = {**self._settings, **self._of(method), **self.task.further({"eraser": fills}), "seed": seed}
        settings |= {"eraser": fills, "recipe": dict(self.recipe.settings)}
        return ("accuracies", f"{metric}-{name}-{seed}"), settings

    def whole(self, seed: int) -> float:
        """The accuracy of a model of whole texts."""
        place, settings = ("accuracies", f"{WHOLE}-{seed}"), {**self._settings, "recipe": dict(self.recipe.settings)}
        if (known := self.task.store.data(*place, settings)) is None:
            run = self._run("delete", seed)
            known = self._led(run.accuracy(run.train, run.dev, seed))
            self.task.store.keep_data(*place, settings, known)
        return float(known)

    def result(self, metric: str, fills: str, methods: Mapping[str, tuple[str, Method]]) -> RoarResult:
        """As `assay.roar` gives it; `methods` are by their names in the paper, each with that of a run."""
        check, seeds, texts = self._check(fills), range(self.task.sizes.roar_seeds), len(self.texts)
        rows, warnings = list[Retrained](), dict[str, tuple[str, ...]]()
        for name, (called, method) in {**methods, "Random": (RANDOM, RANDOM_WORDS)}.items():
            found = [self.accuracies(metric, fills, name, method, seed) for seed in seeds]
            by_share = np.array([accuracies for accuracies, _ in found]).T
            rows += [Retrained(called, q, one) for q, one in zip(check.shares, by_share, strict=True)]
            if called != RANDOM:
                warnings[called] = tuple(check.warnings(method, found[0][1], texts))
        own = {key: value for key, value in parameters(check).items() if key != "recipe"}
        return RoarResult(
            rows=tuple(rows),
            whole=tuple(map(self.whole, seeds)),
            texts=len(self.task.examples),
            parameters=own,
            trainer=dict(self.recipe.settings),
            model=self.task.engine.model.name,
            warnings=warnings,
        )

    def _retrained(self, fills: str, name: str, method: Method, seed: int) -> dict[str, Any]:
        random = name == "Random"
        chosen: Method = method if random else KnownScores(dict(self._known(name, method)))
        run = self._run(fills, seed)
        found, truncated = self._led(run.retrained(chosen, None, seed if random else 0, [seed]))
        return {"accuracies": found[:, 0].tolist(), "truncated": truncated}

    def _known(self, name: str, method: Method) -> Iterator[tuple[tuple[str, ...], Floats]]:
        for chunk in self.chunks:
            for words, scores in self.explained(name, method, chunk):
                yield tuple(words), np.array(scores)

    def _check(self, fills: str) -> Roar:
        return Roar(
            eraser=eraser(fills), seeds=max(2, self.task.sizes.roar_seeds), variant="released", recipe=self.recipe
        )

    def _run(self, fills: str, seed: int) -> Retraining:
        assert self.samples.dev is not None
        return Retraining(self._check(fills), self.samples.train, self.samples.dev, self.recipe, [seed])

    def _led(self, talk: Conversation[Any]) -> Any:
        engine = self.task.engine.storing_in(self.task.store.out / "retrained")
        return next(engine.run([talk])).get()

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """What explanations and models depend on besides the method."""
        assert self.samples.dev is not None
        texts = [self.samples.train.digest, self.samples.dev.digest]
        return {"texts": texts, "model": self.task.engine.model.fingerprint(), "mlm": self.task.filler}

    def _of(self, method: Method) -> dict[str, Any]:
        own: dict[str, Any] = dict(parameters(method))
        return {"method": [type(method).__name__, own], **self.task.further(own)}


def runs_of(task: Task) -> RoarRuns:
    """One object for each task, so that a process reads the texts once."""
    return task.of("roar_runs", RoarRuns)
