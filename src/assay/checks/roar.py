"""ROAR: how well a model still learns when the words that an explanation ranks highest are gone everywhere.

    accuracy on dev without its first q of the words, of models trained on train without its first q of the words

Hooker et al. (2019), RemOve And Retrain, arXiv:1806.10758; for text Pham et al. (2022), section 3, arXiv:2110.04947,
with q = 10, 20, 30 % and five models each. Lower is better. The words are ranked once, by explanations of the label
that the model predicts; as it learns without them again, it does not meet texts that look like nothing it has seen.
With eraser="resample" a masked language model fills the holes, all at once: ROAR_BERT; here never with the word that
stood there, while the released code lets that happen. A text of n words loses max(1, ceil(q n)); in the released code
(variant="released") max(1, ceil(q (n - 1))). What is beyond the window of the explained model is cut off before words
are taken away, for all methods alike. Random explanations are drawn anew for every seed.

    p            two-sample t-test without equal variances, two-sided: Pham et al., Table 2 (their p-values come out)
    p_value      of "lower than random": the larger of that test, one-sided, and of whether one more random explanation
                 would do as well. The first compares means over models, and takes a single lucky draw of random words,
                 trained on many times, for a good method; the second is right for a method that is nothing but a draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from assay.checks.trained_models import RANDOM, count_right, word_scorers
from assay.errors import AssayError, BadInput, UnknownName
from assay.explanations.token_scores import TokenScores
from assay.questions.aims import Aims
from assay.questions.base import Conversation, elsewhere
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.erasers import Delete, Eraser
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import check
from assay.registry.finding import find_method
from assay.registry.parameters import parameters
from assay.registry.protocols import Method
from assay.registry.sample_task import SampleTask
from assay.statistics.accuracies import Retrained, RetrainedVerdict, interval, welch
from assay.statistics.arrays import Floats
from assay.statistics.curves import Variant
from assay.statistics.shares import share_of
from assay.text.example import Example, text_of
from assay.text.sample import Sample
from assay.text.text import Masks, Row
from assay.training.recipes import Recipe, recipe

if TYPE_CHECKING:
    import pandas as pd


@check(
    title="ROAR",
    better="lower",
    paper="arXiv:1806.10758",
    needs=(Predict,),
    sensitive_to="words that say the same as the removed ones; removals that give the label away; how models train",
)
@dataclass(frozen=True, kw_only=True)
class Roar:
    """The accuracy of models that learned without the best words; `recipe` is how they are trained."""

    shares: tuple[float, ...] = (0.1, 0.2, 0.3)
    eraser: Eraser = Delete()
    seeds: int = 5
    variant: Variant = "paper"
    recipe: str | Recipe = "words"

    def __post_init__(self) -> None:
        if not self.shares or len(set(self.shares)) < len(self.shares) or not all(0 < q <= 1 for q in self.shares):
            raise BadInput(f"shares are different numbers above 0 and up to 1, not {self.shares}.")
        if self.seeds < 2:
            raise BadInput(f"seeds is how many models are trained each time, 2 or more, not {self.seeds}.")

    def trainings(self, task: SampleTask) -> int:
        return self.seeds * (1 + len(self.shares) * (1 + len(word_scorers("roar", task))))

    def held_out(self) -> Mapping[str, float]:
        return {"dev": 0.2}

    def examine_sample(self, task: SampleTask) -> Conversation[RoarResult]:
        """Explain the texts of train and dev, take the best words away, and train again."""
        if task.dev is None:
            raise BadInput("roar scores models on other texts than they learn from: give it dev.")
        run = Retraining(self, task.train, task.dev, recipe(self.recipe), range(task.seed, task.seed + self.seeds))
        methods = word_scorers("roar", task)
        explained = None if task.model is not None else (yield Train(run.recipe, task.train, seed=task.seed))
        whole: list[float] = []
        for seed in run.seeds:
            whole.append((yield from run.accuracy(task.train, task.dev, seed)))
        rows: list[Retrained] = []
        warnings: dict[str, tuple[str, ...]] = {}
        for name, method in methods.items():
            accuracies, truncated = yield from run.retrained(method, explained, task.seed, run.seeds)
            rows += [Retrained(name, q, one) for q, one in zip(self.shares, accuracies, strict=True)]
            warnings[name] = tuple(self.warnings(method, truncated, len(task.train) + len(task.dev)))
        random = find_method(RANDOM).make()
        drawn = []
        for seed in run.seeds:
            drawn.append((yield from run.retrained(random, explained, seed, [seed]))[0])
        rows += [Retrained(RANDOM, q, one) for q, one in zip(self.shares, np.concatenate(drawn, axis=1), strict=True)]
        return RoarResult(
            rows=tuple(rows),
            whole=tuple(whole),
            texts=len(task.dev),
            parameters={name: value for name, value in parameters(self).items() if name != "recipe"},
            trainer=dict(run.recipe.settings),
            model="made by the trainer" if task.model is None else task.model.name,
            seed=task.seed,
            warnings=warnings,
        )

    def keep(self, e: TokenScores) -> Masks:
        """The words that stay [shares, words]."""
        place = np.empty(len(e.text), dtype=np.int64)
        place[e.ranking] = np.arange(len(e.text))
        return np.array([place >= self.how_many(len(e.text), share) for share in self.shares])

    def how_many(self, n: int, share: float) -> int:
        """In a text of n words."""
        return max(1, share_of(n if self.variant == "paper" else n - 1, share))

    def warnings(self, method: Method, truncated: int, texts: int) -> Iterator[str]:
        """What a reader of a method's accuracies must know."""
        if parameters(method).get("eraser") == str(self.eraser):
            yield f"same eraser: method and check both take words away by {str(self.eraser)!r}."
        if truncated:
            yield f"truncated: {truncated} of {texts} texts were longer than the model's window."


@dataclass(frozen=True)
class Retraining:
    """The conversations that ROAR consists of."""

    check: Roar
    train: Sample
    dev: Sample
    recipe: Recipe
    seeds: Sequence[int]

    def retrained(
        self, method: Method, explained: str | None, draw: int, seeds: Sequence[int]
    ) -> Conversation[tuple[Floats, int]]:
        """Accuracies [shares, seeds] without the words that a method ranks highest, and how many texts were cut."""
        train, cut = yield from elsewhere(self.shortened(method, self.train, "train", draw), explained)
        dev, also_cut = yield from elsewhere(self.shortened(method, self.dev, "dev", draw), explained)
        found = []
        for learned, tested in zip(train, dev, strict=True):
            for seed in seeds:
                found.append((yield from self.accuracy(learned, tested, seed)))
        return np.array(found).reshape(len(train), len(seeds)), cut + also_cut

    def shortened(self, method: Method, sample: Sample, name: str, seed: int) -> Conversation[tuple[list[Sample], int]]:
        """The sample without the best words, once for each share, and how many texts the model saw in part only."""
        aims = Aims(seed=seed)
        found: list[tuple[list[Row], bool]] = yield Each(self._reduced(method, row, name, aims) for row in sample)
        shares = range(len(self.check.shares))
        shorter = [sample.with_texts([text_of(rows[i]) for rows, _ in found]) for i in shares]
        return shorter, sum(truncated for _, truncated in found)

    def _reduced(self, method: Method, row: Example, name: str, aims: Aims) -> Conversation[tuple[list[Row], bool]]:
        """Explain a text and take its best words away; an error says which text it is about."""
        try:
            [reading] = yield Cases([row.text], aims)
            e: TokenScores = yield from reading.explained_by(method)
            variants = yield from self.check.eraser.erase(e.text, self.check.keep(e))
            facts: KnownFacts = yield ModelFacts()
            return variants.rows(facts.spelling), e.truncated
        except AssayError as error:
            raise type(error)(f"text {row.position + 1} of {name}: {error}") from error

    def accuracy(self, train: Sample, dev: Sample, seed: int) -> Conversation[float]:
        """Of a model that learned from one sample, on the other."""
        model: str = yield Train(self.recipe, train, seed=seed)
        return (yield from elsewhere(count_right(dev), model)) / len(dev)


@dataclass(frozen=True, eq=False, kw_only=True)
class RoarResult:
    """Accuracies on dev for every method and share, `random` among the methods; `whole` are those of whole texts."""

    rows: tuple[Retrained, ...]
    whole: tuple[float, ...]
    texts: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int = 0
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(row.method for row in self.rows))

    @property
    def shares(self) -> list[float]:
        return list(dict.fromkeys(row.share for row in self.rows))

    def at(self, method: str, share: float) -> Retrained:
        for row in self.rows:
            if row.method == method and row.share == share:
                return row
        raise UnknownName.of("method and share", f"{method} {share}", (f"{r.method} {r.share}" for r in self.rows))

    def p(self, one: str, other: str, share: float) -> float:
        """The two-sided t-test between two methods."""
        a, b = (self.at(name, share).accuracies for name in (one, other))
        return welch(a, b, self.texts)

    def verdicts(self) -> list[RetrainedVerdict]:
        """Every method but random, at every share."""
        return [self._verdict(row) for row in self.rows if row.method != RANDOM]

    def _verdict(self, row: Retrained) -> RetrainedVerdict:
        return RetrainedVerdict(
            row.method,
            "roar",
            "lower",
            row.accuracies,
            self.at(RANDOM, row.share).accuracies[:, None],
            warnings=(*self.warnings.get(row.method, ()), *self._unmoved(row)),
            parameters=self.parameters,
            model=self.model,
            seed=self.seed,
            facts={"share": row.share, "whole": float(np.mean(self.whole))},
            share=row.share,
            texts=self.texts,
        )

    def _unmoved(self, row: Retrained) -> Iterator[str]:
        if np.ptp(row.accuracies) == 0:
            yield f"the seeds change nothing: all {len(row.accuracies)} models have the same accuracy."

    def comparisons(self) -> list[dict[str, Any]]:
        """Every two methods at every share: how far the first is above the second, and the t-test."""
        pairs = [(a, b, q) for q in self.shares for a, b in combinations(self.methods, 2)]
        return [
            {"share": q, "method": a, "other": b, "p": self.p(a, b, q)}
            | {"difference": self.at(a, q).mean - self.at(b, q).mean}
            for a, b, q in pairs
        ]

    def table(self) -> list[dict[str, Any]]:
        """One row per method and share."""
        found = {(v.method, v.share): v for v in self.verdicts()}
        return [self._line(row, found.get((row.method, row.share))) for row in self.rows]

    def _line(self, row: Retrained, verdict: RetrainedVerdict | None) -> dict[str, Any]:
        low, high = interval(row.accuracies, self.texts)
        line = {"method": row.method, "share": row.share, "mean": row.mean, "low": low, "high": high}
        tests = {"p_random": self.p(row.method, RANDOM, row.share), "p_value": verdict.p_value} if verdict else {}
        sentence = {"verdict": verdict.sentence} if verdict else {}
        return {**line, "accuracies": row.accuracies.tolist(), "p_random": None, "p_value": None, **tests, **sentence}

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("rows", "warnings", "whole")}
        warnings = {name: list(lines) for name, lines in self.warnings.items()}
        rows = {"rows": self.table(), "whole": list(self.whole), "comparisons": self.comparisons()}
        return {"check": "roar", **plain, **rows, "warnings": warnings}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        rows = tuple(Retrained(row["method"], row["share"], np.array(row["accuracies"])) for row in data["rows"])
        warnings = {name: tuple(lines) for name, lines in data["warnings"].items()}
        same = {name: data[name] for name in ("texts", "parameters", "trainer", "model", "seed")}
        return cls(rows=rows, whole=tuple(data["whole"]), warnings=warnings, **same)

    def to_frame(self) -> pd.DataFrame:
        """The table; accuracies are lists, one number per model."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame(self.table())

    def __str__(self) -> str:
        whole = f"nothing removed: {np.mean(self.whole):.4f}"
        lines = [f"{r['method']} without {r['share']:.0%}: {_shown(r)}" for r in self.table()]
        return "\n".join([f"accuracy on {self.texts} texts, lower is better", whole, *lines])


def _shown(row: Mapping[str, Any]) -> str:
    shown = f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    return f"{shown}, {row['verdict']} (p = {row['p_value']:.4f})" if "verdict" in row else shown
