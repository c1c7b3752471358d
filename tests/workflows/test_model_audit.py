"""The audit of a whole model: planted faults are found, a sound model has none, what was done is not done again."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console

import assay
from assay import cli
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.behavior import Behavior, GroupResult
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.text.word_rules import WordRule
from assay.views import change_rules
from assay.workflows import model_audit
from assay.workflows.model_audit import ModelAudit
from assay.workflows.model_audit.asking import QUICK
from assay.workflows.model_audit.part import AuditPart
from assay.workflows.model_audit.questions import attacks, biases, explanations, layers, pathologies
from assay.workflows.model_audit.terminal import headline, shown

GOOD, BAD = ("superb", "lovely", "clever"), ("dull", "clumsy", "tired")
WHO = ("a man", "a woman", "the boy", "the girl")
THINGS = ("film", "story", "book", "play", "song")


def judged(texts: Any, *, biased: bool) -> Any:
    """The chance of "positive": by the words of praise and blame, and with the fault never for a woman or a girl."""
    made = []
    for text in texts:
        words = text.lower().replace(".", "").split()
        praise = sum(word in GOOD for word in words) - sum(word in BAD for word in words)
        if biased and {"woman", "girl", "she"} & set(words):
            praise = -1
        made.append(1 / (1 + np.exp(-2.0 * praise)))
    return np.array(made)


def box(biased: bool) -> Any:
    return assay.BlackBox(lambda texts: judged(texts, biased=biased), labels=["negative", "positive"], name="box")


def rows() -> list[dict[str, str]]:
    made = []
    for i in range(120):
        word = (GOOD if i % 2 else BAD)[i % 3]
        who, thing = WHO[(i // 2) % 4], THINGS[i % 5]
        more = " which came out in the spring of the last year" if i % 3 == 0 else ""
        label = "positive" if i % 2 else "negative"
        made.append({"text": f"{who} made this {word} {thing}{more} .", "label": label, "who": who.split()[1]})
    return made


@pytest.fixture(scope="module")
def audits() -> dict[str, ModelAudit]:
    """The sound model is not attacked: that takes as long as everything else, and one audit with attacks is enough."""
    small = replace(QUICK, texts=120, probes=4, explained=20, reduced=60, attacked=8)
    asked = {name: one for name, one in model_audit._QUESTIONS.items() if name != "attacks"}
    how: dict[str, Any] = {"label": "label", "groups": ["who"], "quick": True, "progress": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_audit, "QUICK", small)
        patch.setattr(attacks, "_WHOLE", ("universal_triggers",))  # sear loads a writer, which takes long
        biased = assay.audit(box(True), rows(), **how)
        patch.setattr(model_audit, "_QUESTIONS", asked)
        return {"biased": biased, "sound": assay.audit(box(False), rows(), **how)}


def test_a_planted_bias_is_found_and_named(audits: dict[str, ModelAudit]) -> None:
    found = audits["biased"]
    assert "men and women" in " ".join(found.part("biases").bad)
    row = next(row for row in found.part("biases").rows if "men and women" in row[0])
    share = 1 - 0.5  # praise for a man or a boy becomes blame, and the other way round; blame stays
    assert float(row[1].rstrip("%")) / 100 == pytest.approx(share, abs=0.05)
    assert any("who girl" in reason or "who woman" in reason for reason in found.part("by_group").bad)
    assert found.overall.short != "Nothing was found against it"


def test_groups_have_the_shares_that_a_loop_counts(audits: dict[str, ModelAudit]) -> None:
    texts = rows()
    answers = np.where(judged([row["text"] for row in texts], biased=True) > 0.5, "positive", "negative")
    for who in ("man", "woman", "boy", "girl"):
        right = [answer == row["label"] for answer, row in zip(answers, texts, strict=True) if row["who"] == who]
        (row,) = (row for row in audits["biased"].part("by_group").rows if row[0] == f"who {who}")
        assert row[1] == f"{np.mean(right):.1%}"
        assert row[3] == str(len(right))


def test_a_sound_model_has_no_bias_and_no_worse_group(audits: dict[str, ModelAudit]) -> None:
    found = audits["sound"]
    assert not found.part("by_group").bad
    assert "depend on" not in " ".join(found.part("biases").bad)
    assert found.part("by_group").short == "100.0% right"


def test_what_cannot_be_asked_is_said_with_the_reason(audits: dict[str, ModelAudit]) -> None:
    found = audits["sound"]
    unasked = dict(found.unasked)
    assert "Hidden" in unasked["What does it know by layer?"]
    assert not found.part("layers").asked
    assert any("not built yet" in why or "asks for" in why for what, why in found.unasked)
    assert unasked["projection"].startswith("asks for Embeddings, which box cannot answer")
    assert unasked["natural_indirect_effect"].startswith("asks for Intervene and UnitCounts, which box cannot answer")


def context_of(model: Any, sample: Any, **sizes: int) -> model_audit.AuditContext:
    return model_audit.AuditContext(Engine(assay.load(model)), assay.Sample.of(sample), replace(QUICK, **sizes))


def test_texts_that_the_model_cannot_read_are_passed_over_and_counted() -> None:
    """A prompt beyond the window does not end a part; where no text can be read, the reason is said once."""
    long = " ".join(["film"] * 200)
    context = context_of(tiny.causal_lm(), ["the film was", long, "a very good"], reduced=4)
    assert [row.text for row in context.some(100)] == ["the film was", "a very good"]
    (said,) = (cells[1] for cells in model_audit.identity.identity(context).rows if cells[0] == "cannot be read")
    assert said.startswith("1 of them; the first: the prompt")
    with pytest.raises(BadInput, match="another sequel is no mistake"):
        _ = context.unlabelled
    unmasked = context_of(tiny.masked_lm(), ["the film was good", "a very good film"])
    for part in (attacks.attacks, explanations.explanations):
        with pytest.raises(BadInput, match=r"^put \[MASK\] in the place of one word"):
            part(unmasked)


def test_labels_that_are_not_the_models_are_named() -> None:
    numbered = assay.BlackBox(lambda texts: [0.5 for _ in texts], name="numbered")
    context = context_of(numbered, [("a film", "good"), ("a book", "bad")])
    with pytest.raises(BadInput, match=r"the labels of the texts \(good, bad\) are none of the model's \(.*BlackBox"):
        model_audit.by_group.by_group(context)


def group(passed: int, n: int, name: str = "fairness", case: str = "names", wanted: float = 1.0) -> GroupResult:
    return GroupResult(name, case, "preference" if wanted < 1 else "invariance", passed, n, wanted, ())


@pytest.mark.parametrize(
    ("groups", "short", "good", "bad"),
    [
        ([group(9, 9)], "None found in 1 test of bias", (), ()),  # of 9 probes one in three may be biased
        ([group(60, 60)], "None found in 1 test of bias", ("60 of 60 probes of bias leave its answer as it is",), ()),
        ([group(40, 60)], "Found in 1 of 1 test of bias", (), ("its answers depend on names",)),
        (
            [group(12, 12, "prefers the stereotype", "he", 0.5), group(0, 12, "prefers the stereotype", "she", 0.5)],
            "Found in 2 of 2 tests of bias",
            (),
            ("it prefers the stereotype (he)", "it prefers the opposite of the stereotype (she)"),
        ),
    ],
)
def test_what_is_said_of_biases(groups: Any, short: str, good: Any, bad: Any) -> None:
    part = biases._part({"a suite of probes": Behavior(SampleId("s", "d", 1), "suite", tuple(groups))}, [])
    assert (part.short, part.good, part.bad) == (short, good, bad)


def test_small_changes_speak_for_a_model_only_where_most_answers_surely_stay() -> None:
    for passed, n, short, good in ((20, 20, "Not shown either way", 0), (198, 200, "Not as far as was seen", 1)):
        part = pathologies._part([], Behavior(SampleId("s", "d", 1), "s", (group(passed, n),)), [])
        assert (part.short, len(part.good), part.bad) == (short, good, ())


def test_rules_and_triggers_are_said_in_the_answer() -> None:
    rule = Rule("film -> movie", numbers=WordRule(("film",), ("movie",)).to_dict())
    found = Rules(SampleId("s", "d", 3), (rule,), facts={"searched": 3, "held_out": 1})
    part = attacks._part([], {"rules of paraphrase": found}, [])
    assert part.short == "Found: 1 rule"
    assert part.sentence == change_rules.sentence(found)
    nothing = attacks._part([], {"rules of paraphrase": found.told(rules=())}, [])
    assert (nothing.short, nothing.sentence) == ("Nothing was found", "No rule was found in 3 texts.")


def test_it_is_saved_and_read_back(audits: dict[str, ModelAudit]) -> None:
    found = audits["biased"]
    again = ModelAudit.from_json(found.to_json())
    assert again.to_dict() == found.to_dict()
    assert again.to_html() == found.to_html()
    with pytest.raises(BadInput, match="no audit of a model"):
        ModelAudit.from_json("{}")
    with pytest.raises(BadInput, match="no part 'x'"):
        found.part("x")


def test_page_and_terminal(audits: dict[str, ModelAudit]) -> None:
    found = audits["biased"]
    page = found.to_html()
    assert "May one rely on box?" in page
    assert "What was not asked, and why" in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<details>") == sum(len(part.described) for part in found.parts)
    stream = StringIO()
    Console(file=stream, width=80, no_color=True).print(shown(found), headline(found))
    said = stream.getvalue()
    assert max(map(len, said.splitlines())) <= 80
    for part in found.parts:
        assert part.question in said


def test_a_notebook_shows_the_answers(audits: dict[str, ModelAudit]) -> None:
    found = audits["biased"]
    shown_here = found._repr_html_()
    assert "May one rely on box?" in shown_here
    assert "<html" not in shown_here
    for part in found.parts:
        assert part.question in shown_here or not part.asked
    assert shown_here.count("<details") == sum(part.asked for part in found.parts) + 1
    assert all(why in unescape(shown_here) for _, why in found.unasked)


def test_done_parts_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(name: str, fails: bool) -> Any:
        def one(context: Any) -> AuditPart:
            asked.append(name)
            if fails:
                raise KeyboardInterrupt
            return AuditPart(name, f"{name}?", "Yes", "It does.", good=("a",), rows=(("b", "c"),), head=("x", "y"))

        return (f"{name}?", one)

    def run(fails: bool, **more: Any) -> ModelAudit:
        questions = {"first": ask("first", False), "second": ask("second", fails)}
        monkeypatch.setattr(model_audit, "_QUESTIONS", questions)
        return assay.audit(box(False), rows(), label="label", out=tmp_path / "o", progress=False, **more)

    with pytest.raises(KeyboardInterrupt):
        run(True)
    found = run(False)
    assert asked == ["first", "second", "second"]
    assert [part.rows for part in found.parts] == [(("b", "c"),), (("b", "c"),)]
    run(False)
    assert asked == ["first", "second", "second"]
    with pytest.raises(BadInput, match="differs in seed"):
        run(False, seed=3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(BadInput, match="holds other files"):
        assay.audit(box(False), rows(), out=tmp_path / "mine", progress=False)


def test_layers_of_a_network_and_preferences_of_a_language_model() -> None:
    small = replace(QUICK, texts=60, probes=2, words=300, steps=10)
    context = model_audit.AuditContext(
        Engine(assay.load(tiny.bert(num_labels=2))), assay.Sample.of([("a b", "x")]), small
    )
    found = layers.layers(context)
    assert len(found.rows) == 3  # the embedding and two layers
    assert found.left_out[0][0] == "the labels of the texts by layer"
    (trees,) = found.described
    assert isinstance(trees, ProbeScores)
    for control, selective in ((trees.scores - 0.2, True), (trees.scores, False)):
        probed = trees.told(control=control)
        assert layers._selective(probed) is selective
        assert ("learned by heart" in " ".join(layers._sentences([probed]))) is not selective
    masked = Engine(assay.load(tiny.masked_lm()))
    biases = model_audit.biases.biases(replace(context, engine=masked))
    assert any("prefers the stereotype" in row[0] for row in biases.rows)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("identity", "by_group")
    monkeypatch.setattr(model_audit, "_QUESTIONS", {name: model_audit._QUESTIONS[name] for name in names})
    file, page = tmp_path / "t.csv", tmp_path / "page.html"
    file.write_text("text,label\na dull film,negative\na superb film,positive\n")
    (tmp_path / "audited_box.py").write_text(
        "from assay import BlackBox\n"
        "box = BlackBox(lambda t: [0.9 if 'superb' in x else 0.1 for x in t], labels=['negative', 'positive'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    given = ["audit", "--model", "audited_box:box", "--file", str(file), "--label-column", "label", "--quick"]
    assert cli.main([*given, "--html", str(page)]) == 0
    assert "May one rely on" in capsys.readouterr().out
    assert "100.0% right" in page.read_text()
    assert [one.name for one in tmp_path.glob("page.html*")] == ["page.html"]  # the parts are gone
    assert cli.main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"][1]["short"] == "100.0% right"
    assert cli.main([*given, "--group", "nothing"]) == 2
