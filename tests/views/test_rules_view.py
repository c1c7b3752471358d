"""The views of Rules: widths, numbers, and whatever words and texts hold."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from assay.explanations.about import About
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.views import change_rules, descriptions

NUMBERS = {"iou": 0.5, "held_out": 0.25, "ious": [0.25, 0.5], "length": 2, "active": 40, "matches": 30, "always": 0.2}


def rules(*names: str) -> Rules:
    found = tuple(
        Rule(name, {"layer": 5, "neuron": i}, NUMBERS, (('a <script>alert("x")</script>', "b \x1b[2J"),))
        for i, name in enumerate(names)
    )
    about = About(method="compositional_neurons", title="Compositional neurons", model="toy")
    facts = {"neurons": 7, "mean_iou": [0.25, 0.5], "mean_held_out": [0.2, 0.3]}
    return Rules(SampleId("pairs.csv", "ab" * 16, 200), found, facts=facts, about=about)


def printed(e: Rules, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(descriptions.terminal([e]))
    return stream.getvalue()


def test_the_terminal_shows_rules_and_numbers() -> None:
    shown = printed(rules("word:man and not word:dog \x1b[2J"))
    assert (
        "7 neurons with a formula; the first has an IoU of 0.50, where a rule that always holds has 0.20."
        in " ".join(shown.split())
    )
    assert "layer 5, neuron 0    IoU 0.50 (0.25) ━━━━━━━━" in shown
    assert "  word:man and not word:dog" in shown
    assert "Mean IoU of all neurons by length: 1: 0.250 (0.200), 2: 0.500 (0.300)." in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit(width: int) -> None:
    assert all(len(line) <= width for line in printed(rules("word:man", "x" * 90), width).splitlines())


def test_pages_are_safe_and_short() -> None:
    for html in (rules("a", "b").to_html(), rules("<b>")._repr_html_()):
        assert "<script>alert" not in html
        assert "<b>&lt;" not in html
        assert "\x1b" not in html
    assert "and 8 more rules" in rules(*"abcdefghijklmnopqrst").to_html()


def test_without_a_rule_it_says_why() -> None:
    assert "No neuron is on in some texts and off in others often enough." in printed(rules())


def changes(*names: str) -> Rules:
    numbers = {"old": ["film"], "new": ["movie"], "matches": 9, "flips": 6, "flip_rate": 2 / 3, "coverage": 0.085}
    numbers |= {"held_out_matches": 8, "held_out_flips": 4, "held_out_rate": 0.5, "low": 0.157, "high": 0.843}
    bad = "<script>alert(1)</script>"
    numbers |= {"examples": [[f"a {bad} film \x1b[2J", f"a {bad} movie"]]}
    found = tuple(Rule(name, {}, numbers) for name in names)
    about = About(method="sear", title="SEAR", model="toy")
    facts = {"searched": 100, "held_out": 100, "changed": 6, "held_out_changed": 4, "random_words": ["x"]}
    return Rules(SampleId("texts.csv", "ab" * 16, 200), found, facts=facts, about=about)


def test_rules_of_words_show_their_rates_and_texts() -> None:
    shown = printed(changes("film → movie"))
    assert "Which changes of words turn the answer?" in shown
    assert "4 of 8 unseen texts turned: 50% [16%, 84%]; 67% of 9 in the search" in " ".join(shown.split())
    assert "[-film" in shown
    assert "\x1b" not in shown
    for width in (40, 80):
        assert all(len(line) <= width for line in printed(changes("film → movie", "x" * 90), width).splitlines())
    for html in (changes("a", "<b>").to_html(), changes("<b>")._repr_html_()):
        assert "<script>alert" not in html
        assert "<del>film" in html
    assert "No rule was found in 100 texts." in printed(changes())
    assert "and 8 more rules" in printed(changes(*"abcdefghijklmnopqrst"))


@pytest.mark.parametrize(
    ("names", "said"), [("a", "1 rule, {}; it changes"), ("ab", "2 rules, {}; together they change")]
)
def test_one_rule_of_words_is_not_spoken_of_as_many(names: str, said: str) -> None:
    facts = {"searched": 3, "held_out": 1, "changed": 2, "held_out_changed": 1}
    e = Rules(SampleId("t", "0", 4), rules(*names).rules, facts=facts, about=About(method="sear"))
    found = said.format("found in 3 texts and tried on 1 text more")
    assert change_rules.sentence(e) == f"{found} the answer to 2 of the former and to 1 of the latter."
