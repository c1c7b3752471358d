"""Full batches: rows sorted by length, cut so that a batch never holds more padded tokens than the budget.

Out of memory, the budget is halved and the work goes on. A single row that does not fit is split, where it is several
points of a line; else it is an error of that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from assay.errors import AssayError, ModelFailed, NonFiniteAnswer, OutOfMemory
from assay.models.base import TextModel
from assay.models.row_sizes import RowSizes
from assay.models.transformers.side_by_side import side_by_side
from assay.models.turn import Turn
from assay.questions.answers import KnowsFinite
from assay.questions.base import Question
from assay.statistics.arrays import Ints
from assay.text.text import Text


class Batcher:
    """Asks a model many rows in batches of at most `budget` padded tokens."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.batches = 0

    def answers(self, model: TextModel, kind: type[Question], rows: Sequence[Hashable]) -> tuple[list[Any], Ints]:
        """For each row its answer or error, and the number of tokens it cost, padding included."""
        with model.turn:
            encoded = model.encode(kind, rows)
        if holds_errors(encoded):
            return self._without_errors(model, kind, rows, encoded)
        sizes = RowSizes.of(model, kind, encoded)
        order, padded = np.argsort(-sizes.lengths, kind="stable"), np.zeros_like(sizes.lengths)
        outputs: list[Any] = []
        settled: dict[int, tuple[int, Any]] = {}
        at = 0

        def ask(batch: Ints) -> Any:
            return model.answer(kind, [encoded[i] for i in batch])

        with model.quiet():
            ahead = self._ahead(ask, order, sizes, model.turn) if kind in model.side_by_side else {}
            while at < len(order):
                batch = sizes.next_batch(order[at:], self.budget)
                padded[batch] = sizes.padded(batch)
                result = ahead[at, len(batch)] if (at, len(batch)) in ahead else _tried(ask, batch, model.turn)
                if out_of_memory(result) and len(batch) > 1:
                    self.budget = max(1, int(padded[batch].sum()) // 2)
                    continue
                if isinstance(result, Exception):
                    first = rows[batch[0]]
                    whole = sizes.sequences[batch[0]] == 1 or not out_of_memory(result)
                    alone = _named(result, first) if whole else self._in_halves(model, kind, first)
                    settled[len(outputs)] = (len(batch), alone)
                else:
                    self.batches += 1
                outputs.append(result)
                at += len(batch)
        return _in_order(_collected(model, kind, outputs, settled), order, rows), padded

    def _in_halves(self, model: TextModel, kind: type[Question], row: Any) -> Any:
        """The answer of a row of several points, asked as two rows."""
        values, _ = self.answers(model, kind, row.halves)
        failed = (value for value in values if isinstance(value, Exception))
        return next(failed, None) or np.concatenate(values)

    def _ahead(
        self, ask: Callable[[Ints], Any], order: Ints, sizes: RowSizes, turn: Turn
    ) -> dict[tuple[int, int], Any]:
        """The batches to come, two at a time: by where they begin and their size, the result or the error."""
        batches, at = [], 0
        while at < len(order):
            batches.append(sizes.next_batch(order[at:], self.budget))
            at += len(batches[-1])
        starts = np.cumsum([0, *map(len, batches)]).tolist()
        with turn:  # of the thread that waits for the two
            result = zip(starts, batches, side_by_side(ask, batches), strict=False)
        return {(start, len(batch)): one for start, batch, one in result}

    def _without_errors(
        self, model: TextModel, kind: type[Question], rows: Sequence[Hashable], encoded: Sequence[Any]
    ) -> tuple[list[Any], Ints]:
        """Some rows cannot be encoded: their errors are their answers, the others are asked."""
        answers, tokens = list(encoded), np.zeros(len(rows), dtype=np.int64)
        good = [i for i, row in enumerate(encoded) if not isinstance(row, Exception)]
        values, tokens[good] = self.answers(model, kind, [rows[i] for i in good])
        for i, value in zip(good, values, strict=True):
            answers[i] = value
        return answers, tokens


def _tried(ask: Callable[[Ints], Any], batch: Ints, turn: Turn) -> Any:
    """The result, or the error; one of memory without its traceback, which would hold on to what was computed."""
    try:
        with turn:
            return ask(batch)
    except Exception as error:
        return error.with_traceback(None) if out_of_memory(error) else error


def _collected(
    model: TextModel, kind: type[Question], outputs: list[Any], settled: dict[int, tuple[int, Any]]
) -> list[Any]:
    """The answers of all batches, row by row; where a batch failed, what was settled for each of its rows."""
    if not settled:
        return model.collect(kind, outputs)
    values: list[Any] = []
    for i, output in enumerate(outputs):
        size, value = settled.get(i, (0, None))
        values += [value] * size if size else model.collect(kind, [output])
    return values


def _in_order(values: list[Any], order: Ints, rows: Sequence[Hashable]) -> list[Any]:
    """Back to the order of the rows; NaN and infinity become errors."""
    answers: list[Any] = [None] * len(rows)
    for i, value in zip(order.tolist(), values, strict=True):
        answers[i] = value
    if values and not _all_finite(values):
        answers = [a if _finite(a) else _non_finite(row) for a, row in zip(answers, rows, strict=True)]
    return answers


def _all_finite(values: list[Any]) -> bool:
    if isinstance(values[0], np.ndarray) and not holds_errors(values):
        flat = values if values[0].ndim == 1 else [value.ravel() for value in values]
        return bool(np.isfinite(np.concatenate(flat)).all())
    return all(_finite(value) for value in values)


def _finite(value: Any) -> bool:
    match value:
        case Exception() | Text():
            return True
        case KnowsFinite():
            return value.finite
        case _:
            return bool(np.isfinite(value).all())


def _non_finite(row: Hashable) -> NonFiniteAnswer:
    return NonFiniteAnswer(
        f"the model answered NaN or infinity for {_shown(row)}; no score is made of that. Check its weights and dtype."
    )


def holds_errors(answers: Sequence[Any]) -> bool:
    """Whether one of many answers is an error; their types are few."""
    return any(issubclass(kind, Exception) for kind in set(map(type, answers)))


def out_of_memory(result: Any) -> bool:
    if not isinstance(result, Exception):
        return False
    message = str(result).lower()
    return isinstance(result, MemoryError) or "out of memory" in message or "not enough memory" in message


def _named(error: Exception, row: Hashable) -> AssayError:
    if isinstance(error, AssayError):
        return error
    if out_of_memory(error):
        named: AssayError = OutOfMemory(f"not even one row fits into memory: {_shown(row)}; shorten the text.")
    else:
        named = ModelFailed(f"the model failed on a batch that holds {_shown(row)}: {type(error).__name__}: {error}")
    named.__cause__ = error
    return named


def _shown(row: Hashable) -> str:
    """The text of a row, cut short for a message."""
    first = row[0] if isinstance(row, tuple) else row
    return repr(str(first)[:60])
