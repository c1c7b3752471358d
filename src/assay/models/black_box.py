"""Models of which only the answers are known: a function from texts to probabilities, or to logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.errors import BadAnswer, BadInput
from assay.models.base import Handler, Spelling, TextModel
from assay.models.label_names import distinct
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Row

# Below this a probability is taken as this: a float32 cannot tell more, and log-odds stay finite.
FLOOR = 1e-7
# Above this, differences and squares of logits are no longer safe from overflow in every method.
LARGEST_LOGIT = 1e30


class FunctionCall(Handler["BlackBox"]):
    """Predict, by a call of the function with a list of texts."""

    def encode(self, model: BlackBox, rows: Sequence[Row]) -> Sequence[Any]:
        return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows

    def lengths(self, model: BlackBox, encoded: Sequence[Any]) -> Sequence[int]:
        return [1] * len(encoded)

    def answer(self, model: BlackBox, batch: Sequence[Any]) -> Floats:
        return model.as_logits(model.function(list(batch)), len(batch))

    def collect(self, model: BlackBox, outputs: Sequence[Floats]) -> list[Floats]:
        return list(np.concatenate(outputs)) if outputs else []


class BlackBox(TextModel):
    """A function from texts (a pair is a tuple) to probabilities [n, labels], or [n] for the second of two."""

    answers = MappingProxyType({Predict: FunctionCall()})

    def __init__(
        self,
        function: Callable[[list[Any]], Any],
        *,
        labels: Sequence[str] | None = None,
        name: str | None = None,
        multi_label: bool = False,
        batch: int = 4096,
        logits: bool = False,
        of: Any = None,
    ) -> None:
        self.function, self.multi_label, self.most_rows, self.logits = function, multi_label, batch, logits
        self._of = function if of is None else of
        self.name = str(name or getattr(function, "__name__", type(self._of).__name__))
        if logits or not labels:
            shape = self._asked_shape(["a", ("a", "a")] if labels else ["a"])
            self.one_logit = logits and len(shape) == 1
            labels = labels or [str(i) for i in range(2 if len(shape) == 1 else shape[1])]
        self.labels, self.warnings = distinct(tuple(labels))
        self.preferred_tokens = 10**9
        self.spelling = Spelling(self.name, {})
        self._require_a_choice()

    def _require_a_choice(self) -> None:
        if len(self.labels) == 1 and not self.multi_label:
            raise BadInput(
                f"{self.name} has one label, so its answer can never change and nothing explains it; return [texts] "
                "numbers for the second of two labels, or say multi_label=True."
            )

    def fingerprint(self) -> str:
        """Of the code and the data that it reaches, and of its answers to a few texts."""
        from assay.models.probing import fingerprint  # with joblib, which most programs do without

        return fingerprint(self.name, self.function, self._of, {"logits": self.logits, "multi_label": self.multi_label})

    def _asked_shape(self, probes: Iterable[Any]) -> Sequence[int]:
        """How its answers lie, found by asking once: [texts] where it gives one number each, or [texts, labels]."""
        failures = []
        for probe in probes:
            try:
                return tuple(self._numbers(self.function([probe])).shape)
            except BadAnswer:
                raise
            except Exception as error:
                failures.append(error)
        raise BadInput(
            f"{self.name} failed on a list of one string ({failures[0]}); give labels=[...] if it takes pairs."
        ) from failures[0]

    def _numbers(self, output: Any) -> Floats:
        try:
            table = np.array(output, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadAnswer(f"{self.name} must return numbers [texts, labels], not {output!r:.60}.") from error
        if table.ndim not in (1, 2):
            raise BadAnswer(f"{self.name} must return a table [texts, labels], not {table.ndim} dimensions.")
        return table

    def _columns(self, output: Any) -> Floats:
        """A column for each label: one number stands for both sides of a decision."""
        table = self._numbers(output)
        if self.logits and self.one_logit != (table.ndim == 1):
            raise BadAnswer(f"{self.name} returned {table.ndim} dimensions, but other ones when it was asked first.")
        if table.ndim == 1:
            table = np.stack([-table if self.logits else 1 - table, table], axis=1) / (2 if self.logits else 1)
        return table

    def as_logits(self, output: Any, n: int) -> Floats:
        """What the function returned for n texts, as log-probabilities or log-odds [n, labels]."""
        table = self._columns(output)
        if table.shape != (n, len(self.labels)):
            raise BadAnswer(
                f"for {n} texts {self.name} must return [{n}, {len(self.labels)}] numbers, not {table.shape}."
            )
        if self.logits:
            return self._comparable(table)
        answered = np.isfinite(table).all(axis=1)  # the engine names the rows that are not
        if answered.any():
            table[answered] = self._log(table[answered])
        return table

    def _comparable(self, logits: Floats) -> Floats:
        """Finite, but so large that a difference of two would not be: refused; the engine names what is not finite."""
        largest = float(np.abs(logits[np.isfinite(logits)]).max(initial=0.0))
        if largest > LARGEST_LOGIT:
            raise BadAnswer(
                f"{self.name} returned a logit of size {largest:g}; {LARGEST_LOGIT:g} is the largest explained."
            )
        return logits

    def _log(self, table: Floats) -> Floats:
        """Log-probabilities, or log-odds where several labels may hold."""
        if table.min() < -1e-6 or table.max() > 1 + 1e-6:
            raise BadAnswer(
                f"{self.name} must return probabilities between 0 and 1, not {table.min():g} to {table.max():g}."
            )
        if self.multi_label:
            table = table.clip(FLOOR, 1 - FLOOR)
            return np.asarray(np.log(table) - np.log1p(-table))
        if np.abs(table.sum(axis=1) - 1).max() > 1e-3:
            raise BadAnswer(
                f"the probabilities of {self.name} do not sum to 1; if several labels may hold, say multi_label=True."
            )
        return np.asarray(np.log(table.clip(FLOOR, None)))
