"""The same request through `check` and through a study gives the same verdict, warnings, parameters and targets.

Checks of texts go through `Task.judge` of the study of Pham et al., whichever check it is. The checks that train models
are in test_second_attention_study and test_double_trouble_trained, which have the studies that use them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.registry.finding import checks
from assay.text.example import Example
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import SPLIT, Task
from assay_studies.store import Store
from judged_alike import SETTINGS, TEXT_CHECKS, TEXTS, WARNED, model_for, same

_MAPS = (assay.TokenScores, assay.Selection)
# Checks that no study uses, and those that one uses another way.
NO_STUDY = {
    "completeness": "no paper of ours measures it",
    "coverage_gain": "no paper of ours measures it",
    "infidelity": "no paper of ours measures it",
    "rank_agreement": "the studies of attention compare whole audits, text by text",
    "sensitivity": "no paper of ours measures it",
    "shortcut_recovery": "no paper of ours measures it",
    "stability": "no paper of ours measures it",
    "adversarial_attention": "by audit_attention, which finds the check's own numbers without random maps",
    "attention_permutation": "by audit_attention, which finds the check's own numbers without random maps",
    **{name: "the studies are about maps of words" for name, card in checks().items() if card.reads not in _MAPS},
}
BY_A_STUDY = {
    *("deletion", "insertion", "comprehensiveness", "sufficiency", "randomization", "human_agreement"),
    *("roar", "uniform_attention", "seed_variance", "guided_mlp", "trained_adversary"),
}


def study_task(model: assay.TextModel, out: Path) -> Task:
    rows = [Example(str(i), (text,), model.labels[0]) for i, text in enumerate(TEXTS)]
    sizes = replace(Sizes(), random_maps=4)
    return Task("sst2", lambda: Engine(model), rows, {}, sizes, Store(out), lambda line: None)


def test_every_check_is_said_to_have_a_study_or_none() -> None:
    assert set(NO_STUDY) | BY_A_STUDY == set(checks())
    assert not set(NO_STUDY) & BY_A_STUDY


@pytest.mark.parametrize("name", TEXT_CHECKS)
def test_a_study_gives_the_verdict_of_check(name: str, tmp_path: Path) -> None:
    """Of explanations that it has just made, and of those that it finds in its directory."""
    model, check = model_for(name), checks()[name].make(SETTINGS.get(name, {}))
    (by_check,) = assay.check(model, TEXTS, ["leave_one_out"], [check], draws=4, split=SPLIT, progress=False)
    targets = [e.target for e in assay.explain(model, TEXTS, "leave_one_out", split=SPLIT, progress=False)]
    for _ in ("made", "found"):
        task = study_task(model, tmp_path)
        maps = task.maps("LOO_empty")
        same(by_check, task.judge(check, maps).verdict())
        assert [e.target for e in maps] == targets
    assert any(WARNED.get(name, "") in warning for warning in by_check.warnings) or name not in WARNED


def test_warnings_and_facts_of_a_method_are_there_after_a_resume(tmp_path: Path) -> None:
    """Random maps are drawn as the fact `signed` says, and the verdict counts the warnings of explanations."""
    model = assay.load(tiny.bert())
    maps = assay.explain(model, TEXTS, "gradient", progress=False)
    maps = [replace(e, warnings=("beware",)) for e in maps]
    store = Store(tmp_path)
    store.keep_maps("gradient", {}, maps)
    known = store.maps("gradient", {})
    assert known is not None
    task = study_task(model, tmp_path)
    made, found = (task.judge("deletion", some).verdict() for some in (maps, known))
    same(made, found)
    assert f"beware ({len(TEXTS)} of {len(TEXTS)} texts)" in found.warnings
    np.testing.assert_allclose(made.random_scores, found.random_scores, atol=1e-6)
    assert [e.facts for e in known] == [e.facts for e in maps]
