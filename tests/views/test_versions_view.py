from __future__ import annotations

import re
from functools import cache
from io import StringIO

import tiny
from rich.console import Console

import assay
from assay.engine.engine import Engine
from assay.explanations.edits import Edits
from assay.views import page
from assay.views.diffs import diff
from assay.views.versions import terminal


@cache
def found(**settings: object) -> Edits:
    engine = Engine(assay.load(tiny.bert()))
    return assay.explain(engine.model, "a <b>funny</b> film", "hotflip", engine=engine, stop_words="any", **settings)


def printed(e: Edits, width: int = 60) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(terminal(e))
    return stream.getvalue()


def test_a_diff_rebuilds_both_texts() -> None:
    before, after = "it 's slow -- very , very slow .", "it is slow -- very very fun , really ."
    pieces = list(diff(before, after))
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after


def test_the_terminal_marks_words_without_colour() -> None:
    e = found()
    shown = printed(e)
    (_, _, old, new), *_ = (e.edits[0] if e.edits else e.nearest).operations
    assert f"[-{old}-]" in shown
    assert f"{{+{new}+}}" in shown
    assert all(len(line.rstrip()) <= 60 for line in shown.splitlines())


def test_the_page_escapes_the_text_and_needs_no_legend_of_shades() -> None:
    html = page([found()])
    assert "<b>funny" not in html
    assert re.search(r"<del>[^<]+</del><ins>[^<]+</ins>", html)
    assert "speaks for the label" not in html
    assert "speaks for the label" in page([assay.explain(assay.load(tiny.bert()), "a film", "leave_one_out")])


def test_where_nothing_was_found_the_nearest_attempt_is_shown() -> None:
    bow = tiny.linear_bow()
    known = sorted((w for w in bow.weights if w.isascii() and w.isalpha()), key=bow.weights.get)
    text = " ".join(known[-8:])
    e = assay.explain(assay.load((bow.model, bow.tokenizer)), text, "hotflip", flips=1, stop_words="any")
    assert not e.edits
    assert "No version that changes this was found; the nearest attempt:" in " ".join(printed(e).split())
    assert "nearest attempt" in page([e])
    assert e.to_frame().empty


def test_the_text_itself_is_no_attempt() -> None:
    """Where no other word meets the constraint, nothing is tried."""
    bow = tiny.linear_bow()
    e = assay.explain(assay.load((bow.model, bow.tokenizer)), "a funny film", "hotflip", flips=1, similar=1.0)
    assert not e.edits
    shown = " ".join(printed(e).split())
    assert "No version that changes this was found, and none that comes nearer to it." in shown
    assert "0 words changed" not in shown
