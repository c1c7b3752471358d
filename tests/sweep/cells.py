"""One cell of the table: what Assay says, alone and in company, beside what the slow loop says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, ModelFailed
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from sweep.compared import METHODS, Compared
from sweep.slow_language_models import SLOW_TASKS
from sweep.slow_rows import NoSuchNumber, SlowTask
from sweep.texts import GIVEN

TOLERANCE = 1e-4  # relative to the largest score of the text
SMALL = 1e-2  # of the explained number, of 1 or of a score's terms: scores that are all smaller are compared with this
LOST = 1e-2  # of relevance, as a share of the largest part, without a warning
COMPARED = 3  # texts of GIVEN that the slow loop explains too; the others are company


@dataclass(frozen=True)
class Cell:
    """right, refused, wrong or error; why, where it is not right; and the largest relative difference."""

    state: str
    why: str = ""
    off: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def slow_tasks(model: Any, tokenizer: Any, task: str) -> list[SlowTask | NoSuchNumber]:
    """The texts that are compared; where nothing is explained in one, the reason."""
    return [_slow(model, tokenizer, task, given) for given in GIVEN[task][:COMPARED]]


def _slow(model: Any, tokenizer: Any, task: str, given: Any) -> SlowTask | NoSuchNumber:
    try:
        return SLOW_TASKS[task](model, tokenizer, given)
    except NoSuchNumber as none:
        return none
    except Exception as error:
        return NoSuchNumber(f"{type(error).__name__}: {_sentence(error)}")


def cell(loaded: Any, slow: list[SlowTask | NoSuchNumber], task: str, name: str) -> Cell:
    """What becomes of one method for one model."""
    compared, given = METHODS[name], GIVEN[task]
    together = _explained(loaded, given, name)
    alone = [_explained(loaded, given[:1], name)]  # the shortest: in company it has most padding
    failed = next((one for one in (together, *alone) if isinstance(one, Cell) and one.state == "error"), None)
    if failed:
        return _own_failure(compared, slow) or failed
    if isinstance(together, Cell) and all(isinstance(one, Cell) for one in alone):
        return together
    if isinstance(together, Cell) or any(isinstance(one, Cell) for one in alone):
        refused = next(one for one in (together, *alone) if isinstance(one, Cell))
        return Cell("wrong", f"some texts, or alone and in company, differ in this: {refused.why}", np.inf)
    by_itself = [alone[0][0], *together[1:COMPARED]]
    found = [_judged(compared, *three, name) for three in zip(slow, by_itself, together, strict=False)]
    return max(found, key=lambda one: (one.state != "right", one.off))


def _own_failure(compared: Compared, slow: list[SlowTask | NoSuchNumber]) -> Cell | None:
    """Where the model fails on a row by itself, in plain transformers too, Assay can only say so."""
    for one in slow:
        try:
            if isinstance(one, SlowTask):
                compared.loop(one, None)
        except NoSuchNumber:
            continue
        except Exception as error:
            return Cell("refused", f"the model itself fails on a version of the text: {type(error).__name__}")
    return None


def _explained(loaded: Any, given: list[Any], name: str) -> Any:
    compared = METHODS[name]
    fills = loaded if loaded.fields[-1:] == ("word",) and len(loaded.labels) == 2 else None
    engine = Engine(loaded, resolve=lambda name: fills or assay.load(tiny.masked_lm()))
    try:
        if compared.ask is not None:
            return [outcome.get() for outcome in engine.run([_asked(compared, one) for one in given])]
        return assay.explain(loaded, given, compared.method or name, engine=engine, progress=False, **compared.settings)
    except ModelFailed as error:
        return Cell("error", _sentence(error), np.inf)
    except AssayError as error:
        return Cell("refused", _sentence(error))
    except Exception as error:
        return Cell("error", f"{type(error).__name__}: {_sentence(error)}", np.inf)


def _asked(compared: Compared, given: Any) -> Conversation[Any]:
    """What a method would ask of a text, as a method reads it."""
    assert compared.ask is not None
    (reading,) = yield Cases([given])
    return (yield from compared.ask(reading.case))


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _judged(compared: Compared, slow: SlowTask | NoSuchNumber, alone: Any, beside: Any, name: str) -> Cell:
    mine, theirs = compared.scores(alone), compared.scores(beside)
    if name == "attn_lrp":
        return _conserved(alone, beside)
    if isinstance(slow, NoSuchNumber):
        return Cell("wrong", f"there is no such number: {slow}", np.inf)
    try:
        right = compared.loop(slow, alone)
    except NoSuchNumber as none:
        return Cell("wrong", f"there is no such number: {none}", np.inf)
    except Exception as error:  # of the model, on a row by itself
        return Cell("wrong", f"there is no such number: {type(error).__name__}: {_sentence(error)}", np.inf)
    least = SMALL
    if compared.ask is None:
        least *= max(1.0, abs(slow.value(slow.words)), compared.terms(slow))
    alone_off, beside_off = difference(mine, right, least), difference(theirs, right, least)
    off, apart = max(alone_off, beside_off), difference(mine, theirs, least)
    why = "" if off <= TOLERANCE else f"alone {alone_off:.1e}, in company {beside_off:.1e}"
    return Cell("right" if max(off, apart) <= TOLERANCE else "wrong", why, max(off, apart))


def _conserved(alone: Any, beside: Any) -> Cell:
    """AttnLRP: nothing is lost, or it says so; the same in company."""
    apart = difference(alone.scores, beside.scores)
    facts = alone.facts
    parts = [abs(facts[name]) for name in facts if name not in ("gap",) and isinstance(facts[name], float)]
    lost = abs(facts["gap"]) / max(parts)
    if alone.warnings:
        return Cell("wrong" if apart > TOLERANCE else "warned", alone.warnings[0], apart)
    return Cell("right" if lost <= LOST and apart <= TOLERANCE else "wrong", f"lost {lost:.1e}", apart)


def difference(one: Any, two: Any, least: float = SMALL) -> float:
    """The largest difference relative to the largest score; lists of words are equal or not, tuples have parts."""
    if isinstance(two, list):
        return 0.0 if list(one) == two else np.inf
    if isinstance(two, tuple):
        return (
            max((difference(*pair, least) for pair in zip(one, two, strict=True)), default=0.0)
            if len(one) == len(two)
            else np.inf
        )
    one, two = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    if one.shape == two.shape == (0,):  # a model that ends its text at once
        return 0.0
    if one.shape != two.shape or not np.isfinite(two).all():
        return np.inf
    return float(np.abs(one - two).max() / max(np.abs(two).max(), least))
