"""Each token of a continuation explained by itself: against the bare models, and against one explanation per token."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
import task_checks
from assay.cli import main
from assay.engine.engine import Engine
from assay.explanations.base import Explanation
from assay.explanations.token_matrix import TokenMatrix
from assay.models.transformers.tasks.by_token import _units
from assay.runs.schema import Entry, explanation_of, table_of
from assay.text.example import Example
from assay.text.text import Field, Text

PROMPT, REST = "The plot was dull, but the film", " was very good"
WORDS = ", and a good"  # tokens that one can give as continuations of their own


def ids_of(name: str, string: str) -> list[int]:
    return list(tiny.causal_lm(name)[1](string, add_special_tokens=False)["input_ids"])


def log_odds_slope(model: Any, embedded: torch.Tensor, token: int) -> torch.Tensor:
    """Input x gradient of a token's log-odds behind an embedded text, piece by piece."""
    embedded = embedded.detach().requires_grad_()
    chance = model(inputs_embeds=embedded).logits[0, -1].log_softmax(-1)[token]
    (chance - torch.log1p(-chance.exp())).backward()
    return (embedded * embedded.grad)[0].sum(-1).detach()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_causal_model_against_the_bare_model_token_by_token(name: str) -> None:
    model, tokenizer = tiny.causal_lm(name)
    lead = {"gpt2": [], "llama": [1]}[name]
    e = assay.explain(tiny.causal_lm(name), (PROMPT, REST), "input_x_gradient", tokens="each")
    head, both = lead + ids_of(name, PROMPT), lead + ids_of(name, PROMPT + REST)
    rest = both[len(head) :]
    assert both[: len(head)] == head
    assert len(e.tokens) == len(rest) > 1
    assert e.words[: len(Text.of(PROMPT))] == Text.of(PROMPT).words
    words = len(Text.of(PROMPT))
    assert e.text.where[words:] == ("continuation",) * (len(rest) - 1)
    for j, token in enumerate(rest):
        ids = torch.tensor([both[: len(head) + j]])
        slope = log_odds_slope(model, model.get_input_embeddings()(ids), token).double().numpy()
        earlier = e.scores[j, words : words + j]
        np.testing.assert_allclose(earlier, slope[len(head) :], atol=1e-4)  # a generated token is one piece
        owned = [i for i in range(len(lead), len(head)) if tokenizer.decode([head[i]]).strip()]  # not a mark of a blank
        assert e.scores[j, :words].sum() == pytest.approx(slope[owned].sum(), abs=1e-4)
        assert np.isnan(e.scores[j, words + j :]).all()
        with torch.no_grad():
            chance = model(input_ids=ids).logits[0, -1].softmax(-1)[token]
        assert e.probabilities[j] == pytest.approx(float(chance), rel=1e-3)


@pytest.mark.parametrize("method", list(task_checks.METHODS))
def test_a_causal_model_equals_one_explanation_per_token(method: str) -> None:
    model = assay.load(tiny.causal_lm())
    engine, settings = task_checks.engine(model), task_checks.METHODS[method]
    if method == "anchors":
        with pytest.raises(assay.AssayError, match="anchors returns TokenRule"):
            assay.explain(model, (PROMPT, REST), method, tokens="each", engine=engine, **settings)
        return
    e = assay.explain(model, (PROMPT, WORDS), method, tokens="each", engine=engine, **settings)
    assert e.tokens == (",", " and", " a", " good")
    prompt, ends = e.text.fields[0], [e.text.fields[0].string]
    for token in e.tokens[:-1]:
        ends.append(ends[-1] + token)
    n = len(prompt.string)
    units = [(a + n, b + n) for a, b in e.text.fields[1].spans]
    for j, token in enumerate(e.tokens):
        field = Field("prompt", ends[j], (*prompt.spans, *units[:j]))
        alone = assay.explain(
            model,
            Text((field, Field("continuation", token, ())), ("prompt",)),
            method,
            engine=task_checks.engine(model),
            **settings,
        )
        np.testing.assert_allclose(e.scores[j, : len(alone.scores)], alone.scores, atol=1e-4)
        assert list(alone.prediction.values())[1] == pytest.approx(e.probabilities[j], rel=1e-4)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_an_encoder_decoder_equals_one_explanation_per_token(name: str) -> None:
    model = assay.load(tiny.seq2seq(name))
    e = assay.explain(model, PROMPT, "leave_one_out", tokens="each")
    whole = assay.explain(model, PROMPT, "leave_one_out")
    assert e.words == whole.words
    assert e.prediction == whole.prediction
    assert np.prod(e.probabilities) == pytest.approx(whole.prediction[whole.label], rel=1e-3)
    for j in range(len(e.tokens)):
        alone = assay.explain(model, {"text": PROMPT, "token": str(j)}, "leave_one_out")
        np.testing.assert_allclose(e.scores[j], alone.scores, atol=1e-5)


def test_tokens_that_no_string_can_hold_are_kept_and_named() -> None:
    e = assay.explain(tiny.causal_lm(), ("great film", " 🙂 ok"), "leave_one_out", tokens="each")
    within = [j for j, token in enumerate(e.tokens) if "�" in token]
    assert len(within) > 1  # the emoji is several tokens, between which no string ends
    assert any("kept as they are" in warning for warning in e.warnings)
    assert "🙂" in e.words  # and one word, for the tokens behind it
    given = {"prompt": "great film", "continuation": " 🙂 ok"}
    second = assay.explain(tiny.causal_lm(), {**given, "token": str(within[1])}, "leave_one_out")
    np.testing.assert_allclose(e.scores[within[1]][:2], second.scores, atol=1e-4)  # still exact
    assert e.probabilities[within[1]] == pytest.approx(list(second.prediction.values())[1], rel=1e-4)


def test_tokens_without_an_edge_between_them_are_one_word_with_all_their_pieces() -> None:
    """Behind one line break another is the same token; only behind the word do they stand apart."""
    edges = [(0, ""), (1, "."), (4, ".\n\nThe"), (5, ".\n\nThe end"), (6, ".\n\nThe end\n")]
    assert list(_units(edges, 10)) == [(10, 11), (11, 16), (17, 20), (20, 21)]


def test_all_tokens_go_through_the_engine_together() -> None:
    model = assay.load(tiny.causal_lm())
    calls: list[int] = []
    handle = model.model.register_forward_pre_hook(lambda *_: calls.append(1))
    try:
        engine = Engine(model, budget=100_000)
        given = [(PROMPT, REST), ("a film", " of loss")]
        many = assay.explain(model, given, "leave_one_out", tokens="each", engine=engine)
    finally:
        handle.remove()
    assert sum(e.about.cost.forwards for e in many) > 3 * len(calls)
    alone = assay.explain(model, (PROMPT, REST), "leave_one_out", tokens="each", engine=Engine(model, budget=1))
    np.testing.assert_allclose(many[0].scores, alone.scores, atol=1e-4)


@pytest.fixture(scope="module")
def made() -> TokenMatrix:
    found = assay.explain(tiny.causal_lm(), (PROMPT, REST), "input_x_gradient", tokens="each")
    assert isinstance(found, TokenMatrix)
    return found


def test_it_comes_back_from_json_and_parquet(made: TokenMatrix) -> None:
    data = json.loads(made.to_json())
    assert data["kind"] == "TokenMatrix"
    assert data["scores"][0][-1] is None
    assert len(data["tokens"]) == len(data["scores"]) == len(data["probabilities"])
    assert Explanation.from_json(made.to_json()).to_dict() == made.to_dict()
    entry = Entry(Example("0", (PROMPT, REST)), "input_x_gradient", 0, made, None, made.about.cost)
    back = explanation_of(table_of([entry]).to_pylist()[0])
    np.testing.assert_array_equal(back.to_frame()["score"], made.to_frame()["score"])


def test_its_frame_has_a_row_for_every_pair(made: TokenMatrix) -> None:
    frame = made.to_frame()
    assert len(frame) == int((~np.isnan(made.scores)).sum())
    assert frame[frame.position == 1].score.tolist() == made.scores[1][~np.isnan(made.scores[1])].tolist()


def test_its_page_and_terminal_show_every_word_and_token(made: TokenMatrix, capsys: Any, tmp_path: Any) -> None:
    page = made.to_html()
    assert all(f">{token.strip()}<" in page for token in made.tokens)
    assert page.count("<td></td>") == int(np.isnan(made.scores).sum())
    assert "What does each token rest on?" in made._repr_html_()
    model, tokenizer = tiny.causal_lm()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    given = ["--pair", REST, "-m", "gradient", "--model", str(tmp_path), "--tokens", "each"]
    assert main(["explain", PROMPT, *given]) == 0
    shown = capsys.readouterr().out
    assert "rests on most" in shown
    assert "film" in shown


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: assay.explain(tiny.bert(), "a fine film", "gradient", tokens="each"), "causal language model"),
        (lambda m: assay.explain(m, "a film", "gradient", tokens="all"), "no choice of tokens is called 'all'"),
        (lambda m: assay.check(m, ["a film"], "gradient", "deletion", tokens="each"), "'token': '2'"),
        (lambda m: assay.explain(m, "A film.", "leave_one_out", unit="sentences", tokens="each"), "unit at 'words'"),
        (
            lambda m: assay.explain(
                m, {"prompt": "a", "continuation": " film", "token": "0"}, "gradient", tokens="each"
            ),
            "not both",
        ),
    ],
)
def test_what_cannot_be_explained_token_by_token_is_refused(call: Any, says: str) -> None:
    with pytest.raises(assay.AssayError) as caught:
        call(assay.load(tiny.causal_lm()))
    assert says in str(caught.value)
