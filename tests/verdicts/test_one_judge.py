"""One judge: the same request through check, trust and run gives the same verdict, warnings and targets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import NonFiniteAnswer
from assay.explanations.edits import Edits
from assay.explanations.examples import Examples
from assay.explanations.rationale import Rationale
from assay.questions.base import Conversation, now
from assay.registry.cards import CHECKS, CheckCard
from assay.registry.finding import checks, find_method
from assay.request import Aims, Request, TextSource
from assay.runs.execution import Execution
from assay.runs.run import run
from judged_alike import OTHER_KINDS, SETTINGS, TEXT_CHECKS, TEXTS, WARNED, marked, model_for, same


def in_a_run(
    model: assay.TextModel,
    texts: Sequence[str],
    method: Any,
    check: Any,
    place: Path,
    *,
    size: int = 3,
    draws: int = 4,
    **aims: Any,
) -> tuple[assay.Verdict, list[assay.Explanation]]:
    """By three shards; a check that learns from all texts has one, whatever size is asked for."""
    place.mkdir(exist_ok=True)
    path = place / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    asked = Request(
        model=model, texts=TextSource(file=path), methods=[method], checks=[check], draws=draws, aims=Aims(**aims)
    )
    run(asked, Execution(out=place / "run", threads=1, shard_size=size))
    held = assay.open(place / "run")
    (verdict,) = held.verdicts()
    return verdict, list(held.explanations())


@pytest.mark.parametrize("name", TEXT_CHECKS)
def test_check_trust_and_run_give_the_same_verdict(name: str, tmp_path: Path) -> None:
    model, check = model_for(name), checks()[name].make(SETTINGS.get(name, {}))
    method = "leave_one_out"
    (by_check,) = assay.check(model, TEXTS, [method], [check], draws=4, seed=3, progress=False)
    card = assay.trust(model, TEXTS, [method], [check], draws=4, seed=3, progress=False)
    by_run, explained = in_a_run(model, TEXTS, method, check, tmp_path, seed=3)
    (by_trust,) = card.verdicts[method]
    same(by_check, by_trust)
    same(by_check, by_run)
    assert by_run.method_parameters == {"eraser": "delete", "unit": "words"}
    targets = [e.label for e in assay.explain(model, TEXTS, method, seed=3, progress=False)]
    assert [e.label for e in card.explanations[method]] == targets
    assert [e.label for e in explained] == targets
    assert any(WARNED.get(name, "") in warning for warning in by_check.warnings) or name not in WARNED


_TRAIN = [
    ("a funny film", "LABEL_0"),
    ("the plot was dull", "LABEL_1"),
    ("two dogs run", "LABEL_2"),
    ("so good", "LABEL_0"),
]
_KINDS: dict[type, tuple[str, dict[str, Any]]] = {
    Edits: ("hotflip", {"flips": 1, "candidates": 5, "stop_words": "any"}),
    Examples: ("tracin", {"train": [*_TRAIN, *((f"{text} again", label) for text, label in _TRAIN)]}),
    Rationale: ("cage", {"max_tokens": 4, "others": 1}),
}
_OTHER_SETTINGS: dict[str, dict[str, Any]] = {
    "label_kept": {"judge": "@randomized:head:0"},
    "exact_retraining": {"rows": 2},
    "linear_datamodeling": {"subsets": 3, "share": 0.9},
    "counterfactual_faithfulness": {"flips_only": False},
}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A masked language model that a run can load by its directory."""
    place = tmp_path_factory.mktemp("editor")
    for part in tiny.masked_lm():
        part.save_pretrained(place)
    return str(place)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A decoder with a window for long prompts."""
    place = tmp_path_factory.mktemp("writer")
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.max_position_embeddings = tokenizer.model_max_length = 2_000
    for part in (network, tokenizer):
        part.save_pretrained(place)
    return str(place)


@pytest.mark.parametrize("name", OTHER_KINDS)
def test_check_and_run_give_the_same_verdict_on_other_kinds(
    name: str, tmp_path: Path, editor: str, writer: str
) -> None:
    """One shard where random explanations, or what a check learns, come from all texts of it."""
    card = checks()[name]
    method, settings = _KINDS[card.reads]
    settings = settings | ({"model": writer} if card.reads is Rationale else {})
    given = _OTHER_SETTINGS.get(name, {}) | ({"model": editor} if name == "fluency" else {})
    check, made = card.make(given), find_method(method).make(settings)
    model, texts = assay.load(tiny.bert()), [*TEXTS[:2], *TEXTS[5:], "two dogs run"]
    (by_check,) = assay.check(model, texts, [made], [check], draws=3, seed=3, progress=False)
    size = len(texts) if card.reads is Rationale else 3
    by_run, explained = in_a_run(model, texts, made, check, tmp_path, size=size, draws=3, seed=3)
    same(by_check, by_run)
    assert [e.kind for e in explained] == [card.reads.kind] * len(texts)


def test_every_kind_of_warning_is_there(tmp_path: Path) -> None:
    """Of the method, of the window, of the eraser, and of texts that are left out."""
    model = assay.load(tiny.bert())
    check = checks()["stability"].make({"edits": ("synonym",)})
    (by_check,) = assay.check(model, TEXTS, ["lime"], [check], draws=4, progress=False)
    by_run, _ = in_a_run(model, TEXTS, "lime", check, tmp_path)
    same(by_check, by_run)
    assert any("texts left out: no edit of synonym changes it." in warning for warning in by_run.warnings)
    by_run, _ = in_a_run(model, TEXTS, "leave_one_out", checks()["deletion"].make(), tmp_path / "more")
    assert [warning.partition(":")[0] for warning in by_run.warnings] == ["same eraser", "truncated"]


def test_a_masked_language_model_explains_the_same_word(tmp_path: Path) -> None:
    """The label of such a model is the word that it puts into the hole of that text."""
    model = assay.load(tiny.masked_lm())
    texts = ["a [MASK] film", "the plot was [MASK]", "the [MASK] dogs run"]
    (by_check,) = assay.check(model, texts, ["leave_one_out"], ["deletion"], draws=4, progress=False)
    by_run, explained = in_a_run(model, texts, "leave_one_out", "deletion", tmp_path)
    card = assay.trust(model, texts, ["leave_one_out"], ["deletion"], draws=4, progress=False)
    same(by_check, by_run)
    same(by_check, card.verdicts["leave_one_out"][0])
    told = assay.explain(model, texts, "leave_one_out", progress=False)
    labels = [(e.label, e.about.labels) for e in told]
    assert [(e.label, e.about.labels) for e in explained] == labels
    assert [(e.label, e.about.labels) for e in card.explanations["leave_one_out"]] == labels
    assert not {label for label, _ in labels} & set(model.labels)
    assert [row["target"] for row in assay.open(tmp_path / "run").to_arrow(["target"]).to_pylist()] == [
        label for label, _ in labels
    ]


def test_a_shard_without_a_text_that_a_check_can_use_does_not_end_the_run(tmp_path: Path) -> None:
    model = assay.BlackBox(lambda texts: [0.9 if "good" in t else 0.2 for t in texts], labels=["n", "p"], name="box")
    texts = ["good film here", "a good one", "so good", "dull and slow", "slow and dull"]
    check = checks()["shortcut_recovery"].make({"planted": marked(texts[:2])})
    by_run, _ = in_a_run(model, texts, "leave_one_out", check, tmp_path)
    assert by_run.warnings[0] == "3 of 5 texts left out: not in highlights."
    assert len(by_run.scores) == 2


@dataclass(frozen=True)
class Failing:
    """Fails on long texts."""

    def examine(self, e: assay.TokenScores) -> Conversation[float]:
        return now(1.0 if len(e.text) < 4 else float("nan"))


def test_a_check_that_fails_on_some_rows_of_a_run_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` ends with the error; a run goes on, and its verdict says how many texts it lacks and why."""
    card = CheckCard("failing", "Failing", Failing, "", (), assay.TokenScores, "higher", "nothing")
    monkeypatch.setitem(CHECKS, "failing", card)
    model = assay.BlackBox(lambda texts: [0.9 if "good" in t else 0.2 for t in texts], labels=["n", "p"], name="box")
    texts = ["good film here", "so good", "a dull and slow film"]
    with pytest.raises(NonFiniteAnswer):
        assay.check(model, texts, ["leave_one_out"], ["failing"], progress=False)
    by_run, _ = in_a_run(model, texts, "leave_one_out", "failing", tmp_path)
    assert by_run.scores.tolist() == [1.0, 1.0]
    assert by_run.warnings[0] == "1 of 3 texts left out: the check failed with NonFiniteAnswer."


def test_judging_explanations_that_are_there_is_the_same(tmp_path: Path) -> None:
    from assay.verdicts.judge import judge

    model = assay.load(tiny.bert())
    engine = Engine(model)
    maps = assay.explain(model, TEXTS, "gradient", engine=engine, progress=False)
    (one,) = judge(engine, maps, ["sufficiency"], draws=4)
    (other,) = assay.check(model, TEXTS, ["gradient"], ["sufficiency"], draws=4, progress=False)
    same(one, other)


@pytest.mark.parametrize(("settings", "shards"), [({}, 1), ({"threshold": 0.5}, 3), ({"metric": "auprc"}, 3)])
def test_a_run_has_one_shard_only_where_a_threshold_is_tuned(
    settings: dict[str, Any], shards: int, tmp_path: Path
) -> None:
    check = checks()["human_agreement"].make(SETTINGS["human_agreement"] | settings)
    in_a_run(model_for("human_agreement"), TEXTS, find_method("gradient").make({}), check, tmp_path)
    assert len(list((tmp_path / "run" / "shards").iterdir())) == shards
