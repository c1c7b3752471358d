"""The audit of attention: Algorithm 1 against autograd and loops of our own, the numbers over texts, and the views."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from rich.console import Console
from scipy.stats import kendalltau

import assay
from assay.errors import BadInput, EmptyText, Unanswerable, UnknownName
from assay.models.transformers.adapter import HuggingFace
from assay.registry.finding import find_check
from assay.statistics.ranks import Tau
from assay.workflows.audit import _warnings, figures
from assay.workflows.audit.audited import PAIRS
from assay.workflows.audit.exam import Exam, tau
from assay.workflows.audit.finding import Finding, overall
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.summary import Correlation
from assay.workflows.audit.terminal import shown
from attention_by_hand import ByHand
from drawn_bars import heights, unit

TEXTS = [
    "a slow sad and strangely beautiful story about loss",
    "the plot was dull",
    "this is a very very very good film",
    "unwatchable rubbish from beginning to end",
    "a man in a red shirt is playing a guitar",
    "two dogs run through the tall grass chasing a yellow ball",
]
QUICK = {"permutations": 9, "k": 2, "steps": 10, "progress": False}


def model(labels: int = 3, **more: Any) -> Any:
    return assay.load(tiny.attentive(num_labels=labels, **more))


def audited(texts: Any = TEXTS, model_: Any = None, **settings: Any) -> AttentionAudit:
    return assay.audit_attention(model_ or model(), texts, **(QUICK | settings))


@pytest.fixture(scope="module")
def audit() -> AttentionAudit:
    return audited()


@pytest.mark.parametrize("labels", [2, 3])
def test_algorithm_1(labels: int) -> None:
    network, tokenizer = tiny.attentive(num_labels=labels)
    for text, one in zip(TEXTS, audited(model_=model(labels)).texts, strict=True):
        words = text.split()
        hand = ByHand(network, tokenizer, words, detach=True)
        y = hand.chances(hand.own)
        c = int(y.argmax())
        (slope,) = torch.autograd.grad(y[c], hand.vectors)
        g = [abs(float(slope[t + 1] @ hand.vectors[t + 1].detach())) for t in range(len(words))]
        lost = []
        for t in range(len(words)):
            shorter = ByHand(network, tokenizer, words[:t] + words[t + 1 :])
            lost.append(0.5 * np.abs(shorter.answer(shorter.own.detach()) - y.detach().double().numpy()).sum())
        assert one.target == c
        assert one.scores == pytest.approx(hand.weights, abs=1e-6)
        assert one.gradient == pytest.approx(np.array(g) / sum(g), abs=1e-5)
        assert one.leave_one_out == pytest.approx(lost, abs=1e-6)
        maps = {"attention": hand.weights, "gradient": np.array(g), "leave-one-out": np.array(lost)}
        for name in ("attention_gradient", "attention_loo", "gradient_loo"):
            found, theirs = one.taus[name], kendalltau(*(maps[key] for key in PAIRS[name]))
            assert found is not None
            assert found.value == pytest.approx(theirs.statistic, abs=1e-9)
            assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_the_graph_is_cut_at_the_attention(audit: AttentionAudit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a model has no such version, its own gradients are taken, and that is said."""
    assert not any("flow through" in said for said in audit.warnings)

    def none(self: Any, spec: str) -> Any:
        raise Unanswerable("there is none")

    monkeypatch.setattr(HuggingFace, "derived", none)
    other = audited()
    assert any(said.startswith("gradients flow through the attention") for said in other.warnings)
    gaps = [np.abs(a.gradient - b.gradient).max() for a, b in zip(audit.texts, other.texts, strict=True)]
    assert min(gaps) > 1e-3
    assert [one.median_tvd for one in audit.texts] == [one.median_tvd for one in other.texts]


def test_the_same_numbers_as_from_the_checks(audit: AttentionAudit) -> None:
    permutation = find_check("attention_permutation").make({"permutations": 9})
    adversary = find_check("adversarial_attention").make({"k": 2, "steps": 10})
    told = assay.check(model(), TEXTS, ["attention"], [permutation, adversary], draws=1, progress=False)
    assert [one.median_tvd for one in audit.texts] == pytest.approx(told[0].scores, abs=1e-5)
    assert [one.jsd for one in audit.texts] == pytest.approx(told[1].scores, abs=1e-5)
    assert all(one.adversary_tvd <= 0.05 for one in audit.texts)
    assert all(one.adversary.sum() == pytest.approx(1) for one in audit.texts)


def test_alone_as_in_company(audit: AttentionAudit) -> None:
    for text, one in zip(TEXTS, audit.texts, strict=True):
        (alone,) = audited(text).texts
        for name in ("scores", "gradient", "leave_one_out", "adversary"):
            assert getattr(alone, name) == pytest.approx(getattr(one, name), abs=1e-5)
        assert alone.line == pytest.approx(one.line, abs=1e-5)


def test_seeds(audit: AttentionAudit) -> None:
    assert audited().to_json() == audit.to_json()
    other = audited(seed=1)
    assert [one.median_tvd for one in other.texts] != [one.median_tvd for one in audit.texts]
    assert [one.taus["attention_loo"] for one in other.texts] == [one.taus["attention_loo"] for one in audit.texts]


def test_no_tau_is_not_a_tau_of_zero() -> None:
    """Uniform attention orders no words: its taus are counted, and in no mean; the others are as they are."""
    audit = audited(model_=model(attention="uniform"))
    found = audit.all.correlations
    assert found["attention_gradient"] == Correlation(None, None, None, len(TEXTS))
    assert found["gradient_loo"].undefined == 0
    assert found["gradient_loo"].mean is not None
    assert audit.answers()[0].short == "Cannot be answered"
    assert any(f"{len(TEXTS)} (attention and gradient)" in said for said in audit.warnings)
    assert all(one.median_tvd < 1e-6 for one in audit.texts)
    assert audit.to_frame()["tau_attention_gradient"].isna().all()
    assert "–" in audit.to_html()
    assert json.loads(audit.to_json())["summary"][0]["correlations"]["attention_loo"]["mean"] is None


def test_tau_by_hand() -> None:
    assert tau(np.array([1.0, 1.0]), np.array([1.0, 2.0])) is None
    assert tau(np.array([1.0]), np.array([1.0])) is None
    assert tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == Tau(pytest.approx(1 / 3), pytest.approx(1.0))


def test_correlations_by_hand() -> None:
    found = Correlation.of([Tau(0.2, 0.05), Tau(0.6, 0.051), None, Tau(0.4, 0.01)])
    assert found.mean is not None
    assert found.significant is not None
    assert found.mean.value == pytest.approx(0.4)
    assert found.std == pytest.approx(np.sqrt(0.08 / 3))
    assert found.significant.value == pytest.approx(2 / 3)
    assert (found.undefined, found.mean.n) == (1, 3)


def test_groups_are_by_predicted_label(audit: AttentionAudit) -> None:
    predicted = model().predict(TEXTS).argmax(axis=1)
    names = [model().labels[i] for i in predicted]
    assert len(set(names)) > 1
    assert audit.groups[0].label is None
    assert audit.groups[0].texts == len(TEXTS)
    for group in audit.groups[1:]:
        mine = [one for one, name in zip(audit.texts, names, strict=True) if name == group.label]
        assert group.texts == len(mine)
        assert group.jsd.value == pytest.approx(np.mean([one.jsd for one in mine]))
        assert group.far.value == np.mean([one.jsd > 0.4 for one in mine])
    assert sum(group.texts for group in audit.groups[1:]) == len(TEXTS)


def test_random_attention_has_no_correlation() -> None:
    texts = [" ".join(np.random.default_rng(i).permutation(TEXTS[0].split())) for i in range(60)]
    audit = audited(texts, steps=1)
    floor = audit.all.correlations["random_gradient"]
    assert floor.mean is not None
    assert floor.significant is not None
    assert abs(floor.mean.value) < 0.12
    assert floor.significant.value < 0.2
    assert not audit.few
    assert all(answer.short != "Too few texts to say" for answer in audit.answers())


def test_few_texts_decide_nothing(audit: AttentionAudit) -> None:
    assert audit.few
    assert all(answer.short == "Too few texts to say" for answer in audit.answers())


def with_peaks(audit: AttentionAudit, peaks: list[float]) -> AttentionAudit:
    first = audit.texts[1]
    rest = len(first.text) - 1
    return replace(audit, texts=tuple(first.told(scores=np.array([p, *[(1 - p) / rest] * rest])) for p in peaks))


def test_bins_hold_every_text_once(audit: AttentionAudit) -> None:
    peaks = [0.25, 0.4999, 0.5, 0.75, 0.9, 1.0]
    counts = [len(texts) for _, texts in with_peaks(audit, peaks).binned()]
    assert counts == [0, 2, 1, 3]
    sizes = [len(texts) for _, texts in audit.binned()]
    assert sum(sizes) == len(TEXTS)


def test_json_goes_there_and_back(audit: AttentionAudit) -> None:
    again = AttentionAudit.from_json(audit.to_json())
    assert again.to_json() == audit.to_json()
    assert again.to_html() == audit.to_html()
    assert "NaN" not in audit.to_json()
    with pytest.raises(BadInput, match="no audit of attention"):
        AttentionAudit.from_json('{"texts": 3}')


def test_the_frame_has_a_row_for_each_text(audit: AttentionAudit) -> None:
    frame = audit.to_frame()
    assert frame["text"].tolist() == TEXTS
    assert frame["words"].tolist() == [len(text.split()) for text in TEXTS]
    assert (frame["max_attention"] == [one.scores.max() for one in audit.texts]).all()


def test_true_labels() -> None:
    names = model().labels
    audit = audited(labels=[names[0]] * 3 + [1, 1, 1])
    assert [one.gold for one in audit.texts] == [names[0]] * 3 + [names[1]] * 3
    assert audit.accuracy == np.mean([one.label == one.gold for one in audit.texts])
    assert AttentionAudit.from_json(audit.to_json()).accuracy == audit.accuracy
    assert audited().accuracy is None


@pytest.mark.parametrize(
    ("texts", "settings", "error", "said"),
    [
        ([], {}, BadInput, "no text to audit"),
        (["a film", " "], {}, EmptyText, "text 2:"),
        (" ", {}, EmptyText, "(?!text 1)"),
        (TEXTS, {"labels": ["x"]}, BadInput, "one for each text: 6, not 1"),
        (TEXTS[:1], {"labels": ["x"]}, UnknownName, "no label is called 'x'"),
        (TEXTS, {"head": 3}, BadInput, "there is no head 3"),
        (TEXTS, {"epsilon": 2}, BadInput, "epsilon from 0 to 1"),
        (TEXTS, {"permutations": 0}, BadInput, "permutations >= 1"),
    ],
)
def test_what_cannot_be_done_is_said(texts: Any, settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        audited(texts, **settings)


def test_a_model_without_attention_is_told_which_have_one() -> None:
    box = assay.BlackBox(lambda texts: [0.5] * len(texts), labels=["a", "b"], name="box")
    with pytest.raises(
        Unanswerable, match=r"Attention, .*InterveneAttention.* which the model box cannot answer; models that can"
    ):
        audited(model_=box)


def test_one_word_pairs_and_strange_texts() -> None:
    audit = audited(["dull", "naïve café 東京 🙂", "[MASK] <pad> film", "x.y,z a_b 1st"])
    assert audit.texts[0].taus["attention_gradient"] is None
    assert audit.texts[0].jsd == audit.texts[0].median_tvd == 0
    assert any(said.startswith("one word: 1 of 4") for said in audit.warnings)
    pairs = audited([("the plot was dull", "great film"), ("a very good film", "is it good")], model_=model(pair=True))
    assert [one.words for one in pairs.texts] == [("the", "plot", "was", "dull"), ("a", "very", "good", "film")]
    assert all(one.scores.min() > 0 and np.isfinite(one.adversary).all() for one in pairs.texts)


def test_transformers_with_several_heads() -> None:
    """One head's own attention put back changes nothing; one attention for all heads does, and that is said."""
    bert = assay.load(tiny.bert())
    one = audited(TEXTS[:3], bert, head=1)
    assert max(text.placed for text in one.texts) < 1e-6
    assert not any("all heads" in said for said in one.warnings)
    assert not any("flow through" in said for said in one.warnings)
    assert one.to_json() != audited(TEXTS[:3], bert, head=1, layer=0).to_json()
    assert max(text.placed for text in audited(TEXTS[:3], bert).texts) > 1e-4
    told = replace(one, texts=tuple(text.told(placed=0.2) for text in one.texts))
    assert any("moves the answer by 0.20" in said for said in _warnings(told.texts, Exam()))


def printed(audit: AttentionAudit, width: int) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(shown(audit))
    return stream.getvalue()


def test_the_views_say_the_same(audit: AttentionAudit) -> None:
    html = audit.to_html()
    for answer in audit.answers():
        assert answer.question in str(audit)
        assert answer.question in html
        assert answer.question in printed(audit, 140)
    assert html.count("<svg") == 6
    assert "<script" not in html
    assert "http" not in html.replace("http-equiv", "")
    for width in (60, 100, 140):
        assert max(map(len, printed(audit, width).splitlines())) <= width


def test_pages_escape_what_users_write() -> None:
    audit = audited(["a <i>funny</i> film & a <b>dull</b> one", *TEXTS[:1]])
    assert "<i>" not in audit.to_html()
    assert "<b>dull" not in audit.to_html()


def test_a_page_without_matplotlib_says_what_is_missing(audit: AttentionAudit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.views.charts.find_spec", lambda name: None)
    html = audit.to_html()
    assert "<svg" not in html
    assert html.count("There are no figures: matplotlib is not installed (pip install &#39;assay[plot]&#39;)") == 1
    assert "By predicted label" in html


def test_figures_hold_every_text_in_the_tone_of_its_label(audit: AttentionAudit) -> None:
    named = figures.legend(audit)
    tones = figures.by_tone(audit.texts, named)
    assert sum(map(len, tones)) == len(TEXTS)
    for name, texts in zip(named, tones, strict=True):
        assert {one.label for one in texts} == {name}
    first, *_, last = figures.figures(audit)
    assert first.title == "Attention and gradients"
    assert sum(heights(first.drawn)) == pytest.approx(len(TEXTS) * unit(first.drawn), rel=1e-3)
    assert ">0.75–1<" in last.drawn
    assert last.drawn.count("<use") == len(TEXTS) + len((0.0, 0.2, 0.4, 0.6))  # a dot each, and the ticks


def test_many_labels_share_a_tone(audit: AttentionAudit) -> None:
    first = audit.texts[0]
    chances = dict.fromkeys("abcdefg", 1 / 7)
    about = replace(first.about, labels=tuple(chances))
    texts = [first.told(case=replace(first.case, target=i), about=about, prediction=chances) for i in range(7)]
    many = replace(audit, texts=tuple(texts))
    assert figures.legend(many) == ["a", "b", "c", figures.OTHERS]
    assert [len(texts) for texts in figures.by_tone(many.texts, figures.legend(many))] == [1, 1, 1, 4]
    assert "predicted other labels" in many.to_html()


def test_one_answer_out_of_all() -> None:
    def said(gradients: str, left_out: str, shuffled: str, others: str) -> Finding:
        return overall(*(Finding("?", short, "") for short in (gradients, left_out, shuffled, others)))

    assert said("Yes", "Mostly", "For most texts", "For few texts").short == "Yes, as far as these tests go"
    bad = said("Weakly", "No", "For few texts", "For most texts")
    assert bad.short == "No"
    assert "otherwise than gradients and leave-one-out" in bad.sentence
    mixed = said("Yes", "Hardly", "For most texts", "For some texts")
    assert mixed.short == "With caution"
    assert mixed.sentence.index("For it: shuffling") < mixed.sentence.index("Against it: it ranks")
    assert said("Yes", "Yes", "For some texts", "For some texts").short == "With caution"
    assert said("Yes", "Too few texts to say", "For most texts", "For few texts").short == "Too few texts to say"


def test_the_one_answer_is_everywhere(audit: AttentionAudit) -> None:
    short = audit.overall.short
    assert f'<p class="overall"><b>{short}.</b>' in audit.to_html()
    assert str(audit).startswith(audit.overall.question)
    assert json.loads(audit.to_json())["overall"]["short"] == short
