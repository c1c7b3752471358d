"""Reasons in words on a trust card: shown beside the maps, with what to make of them, and never tested in silence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from io import StringIO

import numpy as np
import pytest
import tiny
from rich.console import Console

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.rationale import Reason
from assay.verdicts.trust_card import TrustCard
from assay.views.trust import reasons_note
from assay.views.trust_terminal import trusted


@cache
def card() -> TrustCard:
    model = assay.BlackBox(lambda texts: np.array([[0.8, 0.2] if "dull" in t else [0.3, 0.7] for t in texts]))
    here = Engine(model, resolve=lambda name: assay.load(tiny.causal_lm("llama")))
    return assay.trust(model, "a dull film", ["random"], ["deletion"], draws=20, engine=here, rationale=True)


def told(own: float, other: float) -> str:
    """What is said where the writer finds its words so likely."""
    assert card().reason is not None
    made = replace(
        card().reason, reason=Reason("it is", ("it", " is"), (own, own)), others={1: Reason("x", ("x",), (other,))}
    )
    return reasons_note(replace(card(), reason=made))


def test_the_reasons_are_cages() -> None:
    reason = card().reason
    assert reason is not None
    assert (reason.about.method, reason.label) == ("cage", card().first.label)
    assert card().to_dict()["rationale"]["rationale"] == reason.rationale
    assert "rationale" not in replace(card(), reason=None).to_dict()


def test_they_are_shown_with_what_to_make_of_them() -> None:
    file = StringIO()
    Console(file=file, width=80, no_color=True).print(trusted(card()))
    for shown in (" ".join(file.getvalue().split()), " ".join(card().to_html().split())):
        assert "Reasons in words" in shown
        assert "not tested" in shown
        assert "not what the model did" in shown
    assert "Reasons in words" not in replace(card(), reason=None).to_html()


def test_how_readily_the_writer_argues_for_another_answer() -> None:
    assert "for another answer as readily" in told(0.5, 0.49)
    assert "for another answer less readily" in told(0.9, 0.2)
    assert "for another answer more readily" in told(0.2, 0.9)


def test_a_card_of_many_texts_has_none() -> None:
    with pytest.raises(BadInput, match="give one text"):
        assay.trust(lambda texts: np.full((len(texts), 2), 0.5), ["a film", "a play"], ["random"], rationale=True)
