"""The second half of a verdict: from what was measured of each text to the verdict with all its warnings.

`check` and `trust` add the results of a few texts, a run those that its shards hold; the verdict is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.registry.cards import CheckCard
from assay.statistics.few_texts import FEWEST
from assay.statistics.verdict import Verdict
from assay.verdicts.measuring import TextResult


@dataclass
class VerdictBuilder:
    """What one check found about one method, growing text by text.

    `parameters` are the check's. Warnings are counted over the texts that the verdict is about.
    """

    method: str
    method_parameters: Mapping[str, Any]
    check: CheckCard
    parameters: Mapping[str, Any]
    model: str
    seed: int
    texts: int = 0
    scores: list[float] = field(default_factory=list)
    random_scores: list[Sequence[float]] = field(default_factory=list)
    facts: dict[str, list[float]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    of_method: Counter[str] = field(default_factory=Counter)
    of_check: Counter[str] = field(default_factory=Counter)
    truncated: int = 0

    def add(self, result: TextResult, warnings: Sequence[str], truncated: bool) -> None:
        """One text: what was measured, and what its explanation warns of."""
        self.texts += 1
        if result.measured is None:
            failed = f"the check failed with {type(result.error).__name__}"
            self.left_out[result.left_out or failed] += 1
            return
        self.scores.append(result.measured.score)
        self.random_scores.append(result.random)
        for name, value in result.measured.facts.items():
            self.facts.setdefault(name, []).append(value)
        self.of_method.update(set(warnings))
        self.of_check.update(dict.fromkeys(result.measured.warnings, 1))
        self.truncated += truncated

    @property
    def empty(self) -> bool:
        """Whether no text could be measured, so that there is no verdict."""
        return not self.scores

    def verdict(self) -> Verdict:
        return Verdict(
            self.method,
            self.check.name,
            self.check.better,
            np.array(self.scores, dtype=np.float64),
            np.array(self.random_scores, dtype=np.float64),
            warnings=tuple(self._warnings()),
            parameters=self.parameters,
            model=self.model,
            seed=self.seed,
            facts={name: float(np.mean(values)) for name, values in self.facts.items()},
            chance=self.check.chance,
            method_parameters=self.method_parameters,
        )

    def reasons(self) -> Iterator[str]:
        """Why texts were left out, and how many."""
        for why, count in sorted(self.left_out.items()):
            yield f"{count} of {self.texts} texts left out: {why.rstrip('.')}."

    def _warnings(self) -> Iterator[str]:
        eraser, measured = self.method_parameters.get("eraser"), len(self.scores)
        if eraser is not None and eraser == self.parameters.get("eraser"):
            yield (
                f"same eraser: method and check both take words away by {eraser!r}, which favours the method; "
                "compare with another eraser."
            )
        for warning, count in sorted(self.of_method.items()):
            yield warning if measured == 1 else f"{warning} ({count} of {measured} texts)"
        if self.truncated:
            cut = "the text was" if self.texts == 1 else f"{self.truncated} of {measured} texts were"
            yield f"truncated: {cut} longer than the model's window."
        yield from self.reasons()
        if 1 < measured < FEWEST:
            yield (
                f"too few texts ({measured}) for an interval over texts, which takes {FEWEST}: the one shown is of "
                "these texts alone, against random explanations of them."
            )
        for warning, count in self.of_check.items():
            yield warning if count == measured else f"{warning} ({count} of {measured} texts)"
