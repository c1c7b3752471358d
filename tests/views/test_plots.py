"""Figures for papers: what stands where, and what is refused in a sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import BlackBox, TrustCard
from assay.errors import BadFile, BadInput, UnknownName
from assay.views import charts, plots

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

WEIGHTS = {"superb": 2.0, "good": 1.0, "mess": -3.0, "$5": 0.5}
TEXTS = ["a superb film but a mess", "a mess of a film", "good good fun", "a superb mess for $5"]


def chances(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    values = np.array([sum(weight * text.count(word) for word, weight in WEIGHTS.items()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)


MODEL = BlackBox(chances, labels=["negative", "positive"], name="lexicon")


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def maps() -> Any:
    return assay.explain(MODEL, TEXTS, "leave_one_out", target="negative", progress=False)


@pytest.fixture(scope="module")
def card() -> TrustCard:
    return assay.trust(MODEL, TEXTS[0], ["leave_one_out", "random"], progress=False)


def rows(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_have_the_scores_and_the_strongest_is_on_top(maps: Any) -> None:
    ax = maps[0].plot()
    order = np.argsort(-np.abs(maps[0].scores), kind="stable")
    assert rows(ax)[0] == "mess"
    assert [bar.get_width() for bar in ax.patches] == maps[0].scores[order].tolist()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert "negative" in ax.get_xlabel()


def test_a_waterfall_goes_from_no_words_to_the_text() -> None:
    e = assay.explain(MODEL, TEXTS[0], "kernel_shap", target="negative")
    ax = e.plot("waterfall", most=2)
    edges = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert rows(ax)[-1] == "4 other words"
    assert edges[0][0] == pytest.approx(e.facts["baseline"])
    assert edges[-1][1] == pytest.approx(e.facts["value"])
    for (_, end), (start, _) in itertools.pairwise(edges):
        assert start == pytest.approx(end)


def test_a_waterfall_shows_what_the_scores_do_not_account_for() -> None:
    e = assay.explain(MODEL, TEXTS[0], "kernel_shap", target="negative")
    ax = e.told(scores=e.scores / 2).plot("waterfall")
    assert rows(ax)[-1] == "not accounted for"
    assert ax.patches[-1].get_x() + ax.patches[-1].get_width() == pytest.approx(e.facts["value"])


def test_a_waterfall_needs_scores_that_add_up(maps: Any) -> None:
    with pytest.raises(BadInput, match=r"add up .* leave_one_out .*kernel_shap"):
        maps[0].plot("waterfall")


def test_a_beeswarm_has_a_dot_for_every_place_of_a_word(maps: Any) -> None:
    ax = maps.plot()
    dots = {row: [x for x, _ in c.get_offsets().tolist()] for row, c in zip(rows(ax), ax.collections, strict=True)}
    assert sorted(dots["mess (3)"]) == pytest.approx([3, 3, 3])
    assert sorted(dots["superb (2)"]) == pytest.approx([-2, -2])
    assert "$5" not in rows(ax)


def test_a_beeswarm_does_not_mix_labels() -> None:
    mixed = assay.explain(MODEL, TEXTS, "leave_one_out", progress=False)
    labels = [e.label for e in mixed]
    assert len(set(labels)) == 2
    assert f"{labels.count('negative')} of 4 texts" in mixed.plot(least=1, label="negative").get_xlabel()
    with pytest.raises(UnknownName, match="negativ"):
        mixed.plot(label="negativ")


def test_dollars_are_dollars(maps: Any, tmp_path: Path) -> None:
    e = assay.explain(MODEL, "$5 and $6 for a mess", "leave_one_out")
    assert e.save(tmp_path / "x.png").stat().st_size > 1000


def test_deletion_curves_are_those_of_the_check(maps: Any) -> None:
    ax = maps[0].plot("deletion", model=MODEL, share=0.5)
    own, random = ax.lines
    text = maps[0].text
    without = [text, text.without(text.words.index("mess"))]
    assert own.get_ydata()[0] == pytest.approx(MODEL.predict([str(text)])[0, 0])
    one_of_three = np.interp(1 / 3, np.linspace(0, 1, len(own.get_ydata())), own.get_ydata())
    assert one_of_three == pytest.approx(MODEL.predict([str(without[1])])[0, 0], abs=0.03)
    assert random.get_label() == "random maps"
    assert own.get_ydata().mean() < random.get_ydata().mean()


def test_curves_need_the_model(maps: Any) -> None:
    with pytest.raises(BadInput, match=r"plot\('deletion', model=model\)"):
        maps.plot("deletion")


def test_the_figure_of_a_card_shows_every_test_of_every_method(card: TrustCard) -> None:
    ax = card.plot()
    assert rows(ax) == ["Comprehensiveness", "Deletion", "Infidelity", "Insertion", "Sufficiency"]
    shown = sorted(x for c in ax.collections for x, _ in c.get_offsets().tolist())
    assert shown == pytest.approx(sorted(100 * v.ahead for standing in card.standings for v in standing.tests))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Leave-one-out", "Random"]


def test_axes_of_ones_own_are_drawn_into(maps: Any) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    size = axes[0].get_figure().get_size_inches().tolist()
    assert maps[0].plot(ax=axes[0]) is axes[0]
    assert axes[0].get_figure().get_size_inches().tolist() == size


@pytest.mark.parametrize(("name", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_are_saved_and_the_same_each_time(maps: Any, tmp_path: Path, name: str, start: bytes) -> None:
    files = [maps.save(tmp_path / f"{i}.{name}").read_bytes() for i in range(2)]
    assert files[0].startswith(start)
    assert files[0] == files[1]


def test_what_cannot_be_drawn_or_saved_is_said(maps: Any, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="bars"):
        maps[0].plot("bar")
    with pytest.raises(UnknownName, match=r"\.html"):
        maps.save(tmp_path / "x.gif")
    with pytest.raises(BadFile, match="cannot be written"):
        maps.save(tmp_path / "no" / "x.html")
    with pytest.raises(BadInput, match="TokenRule has no figure"):
        assay.explain(MODEL, TEXTS[0], "anchors").plot()


def test_without_matplotlib_one_sentence_says_what_to_install(maps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "can_draw", lambda: False)
    with pytest.raises(BadInput, match=r"pip install 'assay\[plot\]'"):
        maps[0].plot()
    assert charts.can_draw()


PAGE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assay, "load", lambda name: MODEL)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bars.pdf",
        "card.pdf",
        "labels.html",
        "map.html",
        "maps.html",
        "verdicts.html",
        "waterfall.png",
    ]


def test_the_pictures_of_the_page_are_there() -> None:
    pictures = re.findall(r"\]\((plots/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == 6
    assert all((PAGE.parent / name).stat().st_size < 100_000 for name in pictures)
