"""The terminal: the same story with and without colour, at every width."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, RenderableType
from view_examples import SENTENCE, texts, told, verdict

from assay.explanations.about import About
from assay.registry.finding import checks, methods
from assay.registry.survey import TABLE
from assay.views import page, terminal
from assay.views.heat import Heat
from assay.views.say import telling


def printed(part: RenderableType, width: int = 80, *, colour: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None, markup=False
    )
    console.print(part)
    out.flush()
    return raw.getvalue().decode(encoding)


def test_without_colour_marks_and_scores_tell_the_signs() -> None:
    said = printed(terminal.explained([told("good dull film", [2.0, -1.0, 0.01])]))
    assert "\x1b" not in said
    assert "good dull film\n▲▲▲  ▼▼\n" in said
    assert "▲ for negative: good +2, film +0.01" in said
    assert "▼ against: dull −1" in said


def test_a_terminal_without_unicode_gets_plus_and_minus() -> None:
    said = printed(Heat(told("good dull film", [2.0, -1.0, 0.01])), encoding="ascii")
    assert said == "good dull film\n+++  --\n+ for negative: good +2, film +0.01\n- against: dull -1\n"


def test_colour_shades_only_the_words_that_count() -> None:
    said = printed(terminal.explained([told("good dull film", [2.0, -1.0, 0.01])]), colour=True)
    assert re.search(r"\x1b\[30;48;2;[\d;]+mgood\x1b", said)
    assert re.search(r"\x1b\[30;48;2;[\d;]+mdull\x1b", said)
    assert not re.search(r"\x1b\[[\d;]+mfilm\x1b", said)


@pytest.mark.parametrize("scores", [[0.0, 0.0, 0.0], [6e-30, -5e-30, 1e-30], [0.0, -4e-16, 4e-16]])
def test_what_is_left_by_rounding_is_neither_marked_nor_listed(scores: list[float]) -> None:
    flat = told("good dull film", scores)
    said = printed(terminal.explained([flat]))
    rounding = " but for rounding" if any(scores) else ""
    assert f"All scores are zero{rounding}: no word moves the answer here." in said
    assert not {"▲", "▼"} & set(said)
    html = page([flat])
    assert "All scores are zero" in html
    assert not re.search(r'class="w (for|against)" style', html)


@settings(max_examples=80, deadline=None)
@given(texts, st.integers(20, 90))
def test_any_text_fits_any_width_and_steers_nothing(text: str, width: int) -> None:
    said = printed(terminal.explained([told(text)]), width)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said)
    assert max(map(cell_len, said.split("\n"))) <= width


def test_long_texts_wrap_and_lose_no_word() -> None:
    said = printed(terminal.explained([told(" ".join([SENTENCE] * 30))]), 40)
    words = [word for line in said.split("\n\n")[1].splitlines()[1:] for word in line.split() if word.isalpha()]
    assert words[: 30 * 10] == SENTENCE.split() * 30


def test_marks_stand_under_their_words_in_every_line() -> None:
    heat = terminal.explained([told("aa bb cc dd ee ff", [1, 0, 0, -1, 0, 1])])
    assert "aa bb cc\n▲▲\ndd ee ff\n▼▼    ▲▲\n" in printed(heat, 9)


def test_no_marks_below_text_that_a_terminal_turns_around() -> None:
    said = printed(terminal.explained([told("סרט נפלא", [1.0, -1.0])]))
    assert "סרט נפלא\n▲ for" in said


def test_pairs_warnings_truncation_and_ten_labels() -> None:
    e = told(("a man", "a person"), labels=[f"l{i}" for i in range(10)], warnings=("unconverged.",), unseen=((9, 12),))
    said = printed(terminal.explained([e]))
    assert "premise\na man" in said
    assert "hypothesis\na person" in said
    assert "⚠ unconverged." in said
    assert "1 word lies beyond" in said
    assert "and 6 more" in said


def test_markup_in_a_text_is_text() -> None:
    assert "[bold]x[/bold] :smile:" in printed(terminal.explained([told("[bold]x[/bold] :smile:")])).replace(
        " \n", "\n"
    )


@pytest.mark.parametrize("width", [79, 140])
def test_verdicts_at_every_width(width: int) -> None:
    verdicts = [verdict(3, warnings=("same eraser.",)), verdict(3, check="insertion", warnings=("same eraser.",))]
    said = printed(terminal.verdict_table([*verdicts, verdict(3, good=False, method="random")]), width)
    assert said.count("better than random") == 2
    assert said.count("not distinguishable from random") == 1
    assert said.count("same eraser.") == 1
    assert "Comprehensiveness ↑" in said
    assert re.search(r"\+0\.[89]\d* \[\+0\.\d+, \+1\.?\d*\]", said)


@pytest.mark.parametrize("width", [70, 150])
def test_the_survey_table_has_every_cell_and_everything_of_ours(width: int) -> None:
    said = " ".join(printed(terminal.methods_table(methods()), width).split())
    for cell in TABLE:
        assert cell.title.split()[0] in said
        assert cell.section in said
    assert all(name in said for name in methods())
    assert "Leave-one-out" in said
    assert "[HotFlip" in said or "hotflip" in methods()
    assert "[Gradient" not in said


def test_marks_of_the_survey() -> None:
    said = printed(terminal.methods_table(methods()), 70)
    for marked in ("SEA(M) 7.2", "Influence functions(H) 8.1", "TracIn(C) 8.3", "Polyjuice(M,D) 9.1", "NIE(D) 11.1"):
        assert marked in said


@pytest.mark.parametrize("width", [70, 150])
def test_checks_say_which_way_is_better(width: int) -> None:
    said = printed(terminal.checks_table(checks()), width)
    assert all(name in said for name in checks())
    assert "ower" in said
    assert "arXiv:1806.07421" in said
    assert "…" not in said


def test_no_models_is_said() -> None:
    assert "pip install" in printed(terminal.models_table({}))


def test_models_show_what_they_read_and_how_well() -> None:
    metrics = {"dev": {"accuracy": 0.9048, "n": 872}, "F1": {"mean": 0.5}, "words": 3}
    card = SimpleNamespace(
        title="films", task="text-classification", fields=["text"], labels=["a", "b"], bytes=2_000_000, metrics=metrics
    )
    said = " ".join(printed(terminal.models_table({"toy": card})).split())
    assert "toy films (text-classification). It reads text; says a, b; 2.0 MB." in said
    assert "accuracy 0.905 on dev; mean 0.500 on F1; words 3" in said


def test_a_near_certain_prediction_is_not_called_certain() -> None:
    said = printed(terminal.explained([told(prediction={"negative": 0.9996, "positive": 0.0004})]))
    assert "negative >0.99" in said
    assert "positive <0.01" in said


def test_usual_numbers_are_not_repeated_but_choices_are() -> None:
    about = About(method="integrated_gradients", parameters={"baseline": "pad", "tolerance": 0.01, "limit": 9})
    assert list(telling(about)) == ["baseline", "limit"]
