"""The parts of the study of pathologies and its claims, on reductions and measures that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny
from pathologies_data import values

import assay
from assay.explanations.edits import Edits
from assay.workflows.mend import MendResult
from assay.workflows.mend.measures import ModelMeasures, calibration_error
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM
from assay_studies.pathologies import agreement, checkpoints, mended, second_order
from assay_studies.pathologies.material import Reduced
from reduced_texts import reduced

# --- parts by hand ----------------------------------------------------------------------------------------------------


def with_maps(e: Edits, maps: list[list[float] | None]) -> Edits:
    return e.told(facts={"heat_maps": maps, "mean_kendall": 0.0, "mean_spearman": 0.5})


def test_the_most_important_word_by_hand() -> None:
    e = reduced("a b c d", (0, 1, 2), (0, 1), (0,))
    one = second_order.shift(with_maps(e, [[4, 3, 2, 1], [4, 5, 3], [1, 2], None]))
    # a is first, then b, who becomes the first of the rest again: one change in two steps, and no fall to the last
    assert one is not None
    assert (one.kendall, one.spearman, one.changed, one.toppled, one.ever) == (0.0, 0.5, 50.0, 0.0, 100.0)
    assert one.chance == pytest.approx(100 * (2 / 3 + 1 / 2) / 2)
    fallen = second_order.shift(with_maps(e, [[4, 3, 2, 1], [1, 5, 3], [1, 2], None]))
    assert fallen is not None
    assert (fallen.changed, fallen.toppled) == (50, 50)
    tied = second_order.shift(with_maps(e, [[4, 3, 2, 1], [4, 4 + 1e-9, 3], [2, 1], None]))
    assert tied is not None
    assert tied.changed == 0
    assert second_order.shift(with_maps(reduced("a b", (1,)), [[1, 2], None])) is None


def test_a_linear_model_has_no_second_order() -> None:
    bow = tiny.linear_bow()
    texts = ["the film was good and funny , not slow", "a slow and dull plot , really"]
    made = Reduced("bow", "Bow", tuple(assay.explain((bow.model, bow.tokenizer), texts, "input_reduction")))
    part = second_order.PART.of([second_order.subject(made)])
    assert [values(t)[i] for t, i in zip(part.tables, (0, 3), strict=True)] == [pytest.approx(1), 0]


def test_an_example_path_brackets_the_word_that_goes_next() -> None:
    e = with_maps(
        reduced("a b c d", (0, 1, 2), (0, 2), (2,), chances=[0.9, 0.8, 0.7, 0.6]),
        [[1, 2, 3, 0], [2, 1, 3], [1, 2], None],
    )
    notes = second_order.notes([Reduced("x", "X", (e,))])
    assert list(notes)[2:] == ["0.90  a b c [d]", "0.80  a [b] c", "0.70  [a] c", "0.60  c"]


@pytest.mark.parametrize(("words", "verdict"), [(1, "holds"), (3, "does not hold"), (2, "open")])
def test_the_claim_on_checkpoints(words: int, verdict: str) -> None:
    early = Reduced("x", "X", tuple(reduced(f"a b c d {i}", tuple(range(words))) for i in range(30)))
    late = Reduced("x", "X", tuple(reduced(f"a b c d {i}", (0,)) for i in range(30)))
    often = [agreement.Agreement(100, same, 20, 0) for same in (60.0, 70.0) * 15]
    both = checkpoints.PART.of([checkpoints.subject([early, late], [[None, *often], often])])
    assert [claim.verdict for claim in both.claims] == [verdict, "holds"]
    steps = [line.cells[0].ours for line in both.tables[0].lines if "all steps" in line.label]
    assert [one.value for one in steps if one] == [65, 20]
    assert len(checkpoints.PART.of([checkpoints.subject([late], [often])]).claims) == 1


def measured(right: list[bool], left: list[int], sure: list[float]) -> ModelMeasures:
    n = len(right)
    rows = tuple((f"w{i}",) for i in range(n))
    return ModelMeasures(tuple(right), tuple(sure), (9,) * n, tuple(left), (0.9,) * n, rows, ("a",) * n, tuple(sure))


def result(**models: ModelMeasures) -> MendResult:
    texts = tuple((f"text {i}",) for i in range(len(models[BEFORE].right)))
    return MendResult(
        models=models, texts=texts, gold=("a",) * len(texts), train=1, reduced_texts=1, reduced=1, margin=1
    )


def test_the_claims_on_mending() -> None:
    n, sure = 60, [0.8] * 60
    right = [True] * 45 + [False] * 15
    before = measured(right, [1] * n, sure)
    longer = measured(right, [2] * n, sure)
    worse = [False] * 20 + right[20:]
    good = result(before=longer, mended=measured(right, [3] * n, sure), random=measured(worse, [1] * n, sure))
    assert [claim.verdict for claim in mended.PART.of([mended.subject("X", good)]).claims] == ["holds"] * 3
    bad = result(before=before, mended=measured(worse, [1] * n, sure), random=measured(right, [2] * n, sure))
    longer, kept, random = mended.PART.of([mended.subject("X", bad)]).claims
    assert (longer.verdict, kept.verdict, random.verdict) == ("open", "does not hold", "does not hold")
    few = {name: measured(right[:9], [2] * 9, sure[:9]) for name in (BEFORE, MENDED, RANDOM)}
    assert {claim.verdict for claim in mended.PART.of([mended.subject("X", result(**few))]).claims} == {"open"}


def test_lengths_under_a_floor_are_of_texts_that_all_models_are_that_sure_of() -> None:
    """A model that is too unsure to take a word away has long texts for that reason alone."""
    n, right = 60, [True] * 60
    sure, unsure = [0.95] * n, [0.95] * 30 + [0.5] * 30
    same, stuck = measured(right, [2] * n, sure), measured(right, [2] * 30 + [9] * 30, unsure)
    models = {BEFORE: same, MENDED: stuck, RANDOM: same}
    plain, floored = result(**models), replace(result(**models), settings={"at_least": 0.9})
    assert mended.PART.of([mended.subject("X", plain)]).claims[0].verdict == "holds"
    assert mended.PART.of([mended.subject("X", floored)]).claims[0].verdict == "open"
    assert any(
        "(30 of 60 texts)" in line.label for line in mended.PART.of([mended.subject("X", floored)]).tables[0].lines
    )
    none = replace(result(**models), settings={"at_least": 0.99})
    assert mended.PART.of([mended.subject("X", none)]).claims[0].verdict == "open"


def test_calibration_is_that_of_mending() -> None:
    edge = measured([False, True], [1, 1], [3 / 15, 0.25])  # the first belongs to the bin below
    assert float(mended.ece(mended.gaps(edge).mean(axis=0))) == pytest.approx((0.2 + 0.75) / 2)
    rng = np.random.default_rng(0)
    sure = [*rng.random(200).tolist(), 0.0, 1.0, 1 / 15, 2 / 15]
    right = (rng.random(204) < 0.6).tolist()
    one = measured(right, [1] * 204, sure)
    assert float(mended.ece(mended.gaps(one).mean(axis=0))) == pytest.approx(
        calibration_error(np.array(sure), np.array(right))
    )
