"""CAGE: the published prompts, what the writer itself would write, ranking, other labels, other models, views."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, EmptyText, Unanswerable
from assay.explanations.rationale import Rationale, Reason
from assay.methods.natural_language.cage import Cage
from assay.models import TextModel
from assay.questions.generation import Generate, Likelihood, Sampling
from assay.text.text import Text
from assay.views.terminal import explained

PAIR = ("A man in a red shirt is playing a guitar", "Nobody is playing music")
LABELS = ["entailment", "neutral", "contradiction"]


def verdict(texts: list[Any]) -> np.ndarray:
    """Contradiction, wherever nobody does anything."""
    nobody = np.array([("Nobody" in " ".join(text) if isinstance(text, tuple) else "dull" in text) for text in texts])
    return np.where(nobody[:, None], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2])


@cache
def writer() -> TextModel:
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.max_position_embeddings = tokenizer.model_max_length = 400
    tokenizer.chat_template = "<s>{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<reply>"
    return assay.load((network, tokenizer))


def engine(resolve: Any = lambda name: writer()) -> Engine:
    return Engine(assay.BlackBox(verdict, labels=LABELS), resolve=resolve)


def made(text: Any = PAIR, here: Engine | None = None, **settings: Any) -> Rationale:
    here = here or engine()
    return assay.explain(here.model, text, "cage", engine=here, **{"max_tokens": 6, **settings})  # type: ignore[no-any-return]


def same(one: Reason, two: Reason) -> None:
    """But for the rounding of sums in another company."""
    assert (one.text, one.tokens) == (two.text, two.tokens)
    assert one.likelihoods == pytest.approx(two.likelihoods, rel=1e-4)


def test_a_sentence_that_was_cut_is_said_to_be() -> None:
    assert "was stopped after 6 tokens" in made().warnings[1]
    own = assay.explain(
        assay.load((writer().model, writer().tokenizer), labels=["dull", "funny"], question="What is it?"),  # type: ignore[attr-defined]
        "a warm film",
        "self_rationale",
        max_tokens=5,
    )
    assert "was stopped after 5 tokens" in own.warnings[0]


def test_a_label_without_words_is_argued_for_by_another_name() -> None:
    nameless = Engine(assay.BlackBox(verdict, labels=["entailment", "", "contradiction"]), resolve=lambda _: writer())
    with pytest.raises(BadInput, match="no words to argue for; give cage choices"):
        made(here=nameless)
    assert "The answer is no because" in made(here=nameless, choices=("yes", "maybe", "no")).prompt


def test_the_published_prompts() -> None:
    told = made()
    lines = f"premise: {PAIR[0]}\nhypothesis: {PAIR[1]}\nThe choices are entailment, neutral, or contradiction."
    assert told.prompt == f"{lines} The answer is contradiction because"
    assert made(way="reason").prompt == f"{lines} My commonsense tells me"


def test_commonsense_questions_have_choices_of_their_own() -> None:
    question = Text.of("What could people do that involves talking?")
    prompt = Cage().prompt(question, ["confession", "carnival", "state park"], 0)
    assert str(prompt) == (
        "What could people do that involves talking? The choices are confession, carnival, or state park. "
        "The answer is confession because"
    )
    assert "The choices are yes or no." in str(Cage().prompt(question, ["yes", "no"], 1))
    told = made(choices=("yes", "maybe", "no"))
    assert told.prompt.endswith("The choices are yes, maybe, or no. The answer is no because")
    with pytest.raises(BadInput, match="2 choices are given, and the model has 3 labels"):
        made(choices=("yes", "no"))
    with pytest.raises(BadInput, match="a choice without words is none"):
        made(choices=("yes", " ", "no"))


def test_it_is_what_the_writer_writes() -> None:
    told = made()
    plain = Engine(writer()).ask(Generate(told.prompt, max_tokens=6, stop=["\n"]))[0]
    same(told.reason, Reason.of(plain))
    assert told.rationale == plain.text.strip()
    again = Engine(writer()).ask(Likelihood(told.prompt, plain.text))[0]
    assert np.allclose(np.log(told.likelihoods), again.log_probs, atol=1e-4)


def test_several_are_ranked_by_likelihood_and_nothing_comes_twice() -> None:
    told = made(n=6, temperature=2.0, top_p=1.0)
    means = [float(np.log(reason.likelihoods).mean()) for reason in told.reasons()]
    assert means == sorted(means, reverse=True)
    assert len({reason.text for reason in told.reasons()}) == len(means) > 2
    assert told.rationale == made(n=6, temperature=2.0, top_p=1.0).rationale
    assert [r.text for r in told.reasons()] != [r.text for r in made(n=6, temperature=2.0, top_p=1.0, seed=1).reasons()]


def test_a_beam_search_finds_what_is_at_least_as_likely() -> None:
    greedy, best = made(), made(beams=4, n=2)
    assert best.reason.mean >= greedy.reason.mean - 1e-9
    assert len(best.further) == 1


def test_labels_that_are_numbers_are_told_as_they_are() -> None:
    here = Engine(assay.BlackBox(verdict, labels=["0", "1", "2"]), resolve=lambda name: writer())
    assert made(here=here).prompt.endswith("The choices are 0, 1, or 2. The answer is 2 because")


def test_the_likeliest_other_labels_have_reasons_too() -> None:
    assert list(made(others=1).others) == [1]
    told = made()
    assert list(told.others) == [1, 0]
    for number, reason in told.others.items():
        prompt = told.prompt.replace("answer is contradiction", f"answer is {LABELS[number]}")
        same(reason, Reason.of(Engine(writer()).ask(Generate(prompt, max_tokens=6, stop=["\n"]))[0]))
    assert made(way="reason").others == {}


def test_another_label_may_be_explained() -> None:
    told = made(target="neutral")
    assert told.label == "neutral"
    assert "The answer is neutral because" in told.prompt
    same(told.reason, made().others[1])


def test_any_language_model_by_name() -> None:
    asked: list[str] = []

    def resolve(name: str) -> TextModel:
        asked.append(name)
        return assay.load(tiny.seq2seq("t5"))

    told = made("A film", here=Engine(assay.BlackBox(verdict, labels=LABELS), resolve=resolve), model="my/t5")
    assert asked == ["my/t5"]
    assert told.about.parameters["model"] == "my/t5"
    assert told.about.cost.generated > 0


def test_a_chat_model_begins_its_reply_with_the_answer() -> None:
    told = made(chat=True)
    prompt = told.prompt.replace("premise:", "<user>premise:", 1).replace("The answer is", "<reply>The answer is")
    same(told.reason, Reason.of(Engine(writer()).ask(Generate(prompt, max_tokens=6, stop=["\n"]))[0]))


def test_a_model_that_answers_freely_is_refused() -> None:
    with pytest.raises(BadInput, match="answers freely"):
        assay.explain(tiny.causal_lm("gpt2"), "The film", "cage")


def test_a_tagger_is_asked_about_its_word() -> None:
    tagger = assay.load(tiny.token_tagger())
    told = assay.explain(tagger, ("two dogs run", "1:dogs"), "cage", engine=Engine(tagger, resolve=lambda n: writer()))
    assert told.prompt.startswith("text: two dogs run\nword: dogs\nThe choices are O, PER, or LOC.")


def test_a_prompt_beyond_the_window_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadInput, match=r"the prompt has \d+ tokens, and .* reads 400; shorten it"):
        made(("a man " * 300, "b"))


def test_a_writer_without_an_end_writes_all_its_tokens() -> None:
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.eos_token_id = network.generation_config.eos_token_id = None
    tokenizer.eos_token = None
    endless = assay.load((network, tokenizer))
    told = made("A film", here=engine(lambda name: endless), n=2, temperature=1.0, others=0)
    assert told.rationale
    assert told.about.cost.generated == 2 * 6


def test_what_cannot_be_written_is_one_sentence() -> None:
    plain, encoder = assay.load(tiny.seq2seq("bart")), assay.load(tiny.bert())
    with pytest.raises(EmptyText, match="has no word to explain"):
        made("  ")
    with pytest.raises(Unanswerable, match="has no chat template, so nobody knows how to talk to it"):
        made("A film", here=engine(lambda name: plain), chat=True)
    with pytest.raises(Unanswerable, match="cannot answer Generate"):
        made("A film", here=engine(lambda name: encoder))


def test_there_and_back() -> None:
    told = made(n=3, temperature=2.0)
    data = told.to_dict()
    assert data["rationale"] == told.rationale
    assert data["likelihoods"] == list(told.likelihoods)
    assert [one["label"] for one in data["others"]] == ["neutral", "entailment"]
    back = assay.Explanation.from_json(told.to_json())
    assert isinstance(back, Rationale)
    assert back.to_dict() == data
    assert (back.reason, back.further, back.others) == (told.reason, told.further, told.others)
    assert (back.prompts, back.prompt) == (told.prompts, told.prompt)
    assert told.to_frame().shape == (len(told.likelihoods), 2)


def test_random_rationales_are_those_of_other_texts() -> None:
    told = [made(("A man", "x")), made(("Two dogs", "y")), made(("The year", "z"))]
    for drawn in Rationale.random_sets(told, 5):
        for own, other in zip(told, drawn, strict=True):
            assert other.text is own.text
            assert other.rationale != own.rationale
            assert other.rationale in {e.rationale for e in told}
    alone = Rationale.random_sets(told[:1], 3)
    assert len({drawn[0].rationale for drawn in alone} - {told[0].rationale}) > 1
    assert [drawn[0].rationale for drawn in alone] == [
        drawn[0].rationale for drawn in Rationale.random_sets(told[:1], 3)
    ]


def shown(told: Rationale, **how: Any) -> str:
    stream = StringIO()
    Console(file=stream, width=80, **how).print(explained([told]))
    return stream.getvalue()


def test_views_show_every_rationale() -> None:
    reasons = [Reason("it is <b>so</b>", (" it", " is", " <b>so</b>"), (0.9, 0.04, 0.3)), Reason("why not", (), ())]
    told = made()
    told = told.told(reason=reasons[0], further=(), others={0: Reason("no", (" no",), (0.7,)), 1: reasons[1]})
    plain = shown(told, color_system=None)
    assert "because it is <b>so</b>" in plain
    assert "if it were “neutral”: because why not  (nothing was written)" in plain
    assert "\x1b[7m" in shown(told, force_terminal=True)
    for page in (told.to_html(), told._repr_html_()):
        assert "&lt;b&gt;so&lt;/b&gt;" in page
        assert 'style="--a:0.92" title="probability 0.04"' in page
        assert "strongest score" not in page
        assert PAIR[0] in page


@pytest.mark.parametrize("settings", [{"n": 0}, {"others": -1}, {"max_tokens": 0}, {"beams": 0}, {"n": 2, "top_p": 0}])
def test_what_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Cage(**settings)


def test_greedy_needs_no_temperature() -> None:
    assert Cage()._sampling() == Sampling()
    assert Cage(n=3)._sampling() == Sampling(0.7, 0.9)
    assert Cage(n=3, beams=3)._sampling() == Sampling(beams=3)
