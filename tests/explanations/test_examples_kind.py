"""Examples: both ends of the scores, saving, random ones; and how they look."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import assay
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.examples import Examples, at_both_ends
from assay.explanations.sample_explanation import SampleId
from assay.text.example import Example
from assay.text.text import Text
from assay.text.training_set import TrainingSet
from assay.views import terminal

ROWS = [
    Example(str(i), (text,), label, position=i)
    for i, (text, label) in enumerate(
        [
            ("a funny film", "good"),
            ("dull , dull", "bad"),
            ("<b>funny</b> & odd", "good"),
            ("no \u202eword\x1b[31m", "bad"),
            ("FUNNY!", "bad"),
        ]
    )
]
SCORES = np.array([0.5, -0.25, 0.1, 0.0, -1.0])


def made(scores: np.ndarray = SCORES, kept: int = 10, **more: Any) -> Examples:
    about = About(method="tracin", title="TracIn", labels=("bad", "good"))
    known = SampleId("train.csv", "ab" * 16, len(scores))
    told: dict[str, Any] = {"prediction": {"bad": 0.2, "good": 0.8}, "about": about, **more}
    return Examples(Case(Text.of("a funny plot"), 1), scores, at_both_ends(scores, ROWS, kept), known, **told)


def shown(e: Examples, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(terminal.explained([e]))
    return stream.getvalue()


def test_both_ends_are_listed_from_the_highest_down() -> None:
    e = made()
    assert [one.index for one in e.examples] == [0, 2, 1, 4]
    assert [one.index for one in e.toward] == [0, 2]
    assert [one.index for one in e.away] == [4, 1]
    assert [one.index for one in made(kept=1).examples] == [0, 4]
    assert e.ranking.tolist() == [0, 2, 3, 1, 4]
    assert at_both_ends(np.array([1.0, 1.0, -1.0, -1.0, 0.0]), ROWS, 1)[0].index == 0


def test_saving_and_the_fields_that_others_rely_on() -> None:
    e = made()
    data = e.to_dict()
    assert data["examples"][0] == {"index": 0, "text": "a funny film", "label": "good", "score": 0.5}
    back = Examples.from_json(e.to_json())
    assert back.to_dict() == data
    assert e.to_frame()["score"].tolist() == [0.5, 0.1, -0.25, -1.0]
    pair = at_both_ends(np.array([1.0]), [Example("0", ("a man", "a dog"), "good")])[0]
    assert type(pair).from_dict(pair.to_dict()) == pair
    assert pair.text == "a man | a dog"


def test_random_ones_have_the_same_norm_and_other_orders() -> None:
    e = made()
    drawn = list(e.random_like(50))
    assert np.allclose([np.linalg.norm(one.scores) for one in drawn], np.linalg.norm(SCORES))
    assert len({tuple(one.ranking.tolist()) for one in drawn}) > 20
    assert abs(np.mean([one.scores for one in drawn])) < 0.2
    assert all(one.examples == tuple(sorted(one.examples, key=lambda x: -x.score)) for one in drawn)
    assert [one.scores.tolist() for one in e.random_like(2)] == [one.scores.tolist() for one in e.random_like(2)]


@pytest.mark.parametrize("scores", [np.array([np.nan] * 5), np.zeros(3)])
def test_scores_that_are_none_are_refused(scores: np.ndarray) -> None:
    with pytest.raises(ValueError, match="need as many finite scores"):
        made().told(scores=scores)


def test_the_terminal_shows_both_directions_and_shared_words() -> None:
    text = shown(made())
    assert "Of 5 training texts, 2 pushed toward “good” and 2 away from it" in text
    assert text.index("Pushed toward “good”") < text.index("a [funny] film") < text.index("Pushed away from “good”")
    assert text.index("[FUNNY]!") < text.index("dull , dull")
    assert "+0.5" in text
    assert "row 5" in text
    assert "\x1b[31m" not in shown(made(np.array([0.1, 0, 0, 1.0, 0])))
    assert max(map(len, shown(made(), 40).splitlines())) <= 40


def test_nothing_pushed_is_said() -> None:
    text = shown(made(np.zeros(5)))
    assert "None of the 5 training texts pushed the prediction either way." in text
    assert "Pushed" not in text


def test_the_page_escapes_and_marks() -> None:
    for html in (made().to_html(), made()._repr_html_()):
        assert "<u>funny</u> film" in html
        assert "<b>funny" not in html
        assert html.count('class="push"') == 4
        assert "Words under" not in html  # the key of shaded words


def test_training_sets_are_equal_when_their_rows_are(tmp_path: Any) -> None:
    rows = [("a funny film", "good"), ("dull", "bad")]
    table = tmp_path / "train.csv"
    table.write_text("text,label\na funny film,good\ndull,bad\n", encoding="utf-8")
    one, two = TrainingSet.of(rows), TrainingSet.of(str(table))
    assert one == two
    assert hash(one) == hash(two)
    assert one != TrainingSet.of(rows[:1] * 2)
    assert str(one) == f"2 labelled texts, {one.sample.digest[:12]}"
    assert one == TrainingSet.of(one) == TrainingSet.of(assay.Sample.of(rows)) == TrainingSet.of(tuple(rows))
