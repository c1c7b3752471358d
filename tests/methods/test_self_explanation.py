"""What a model says of its own answer: prompts, replies in any shape, planted models that tell the truth or do not."""

from __future__ import annotations

import random
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from chat_toys import WEIGHTS, Chat, text_in

import assay
from assay.errors import AssayError, BadInput, EmptyText, ModelNotLoaded, Unanswerable
from assay.explanations.edits import Edits
from assay.explanations.rationale import Rationale
from assay.methods.natural_language.asking_itself import subject_of
from assay.methods.natural_language.replies import blacked_out, edited_passage, named_words, operations_between
from assay.models import TextModel
from assay.models.transformers.tasks.chooser import Chooser

FILLERS = "the film with a plot about two brothers and their old car in town that summer".split()
REPLY = 'The most important words are:\n\n1. "Superb" - high praise\n2. plot\n3. masterpiece'


def texts() -> list[str]:
    """Twelve texts of twelve words, two of which matter, at random places."""
    chance, made = random.Random(0), []
    for i in range(12):
        words = chance.sample(FILLERS, 10)
        signs = [word for word, weight in WEIGHTS.items() if (weight > 0) == (i % 2 == 0)]
        for word in chance.sample(signs, 2):
            words.insert(chance.randrange(11), word)
        made.append(" ".join(words))
    return made


def honest(prompt: str) -> str:
    """Names the words that it really uses, or blacks them out, or turns them into their opposites."""
    words = text_in(prompt).split()
    if prompt.startswith("List"):
        return "\n".join(f"- {word.capitalize()}: it matters" for word in words if word in WEIGHTS)
    if prompt.startswith("Redact"):
        return "Redacted text: " + " ".join("[REDACTED]" if word in WEIGHTS else word for word in words)
    opposite = {"superb": "dull", "charming": "wooden", "warm": "endless"}
    opposite |= {bad: good for good, bad in opposite.items()}
    return '"' + " ".join(opposite.get(word, word) for word in words) + '"'


def dishonest(prompt: str) -> str:
    """Names, blacks out or changes words at random."""
    words = text_in(prompt).split()
    picked = set(random.Random(len(prompt) + sum(map(ord, prompt))).sample(words, 2))
    if prompt.startswith("List"):
        return ", ".join(picked)
    if prompt.startswith("Redact"):
        return " ".join("[redacted]" if word in picked else word for word in words)
    return " ".join("river" if word in picked else word for word in words)


@pytest.mark.parametrize("form", ["importance", "redaction"])
def test_who_names_the_words_it_uses_passes_and_who_names_any_does_not(form: str) -> None:
    from assay.methods.natural_language.self_explanation import SelfExplanation

    checks = ["deletion", "sufficiency"]
    for reply, passes in ((honest, True), (dishonest, False)):
        verdicts = assay.check(Chat(reply), texts(), [SelfExplanation(form=form)], checks)
        assert all((verdict.p_value <= 0.05) is passes for verdict in verdicts), [v.p_value for v in verdicts]


def test_an_edit_of_what_it_uses_flips_and_another_does_not() -> None:
    good = assay.check(Chat(honest), texts(), ["self_counterfactual"], ["flip_rate"])[0]
    bad = assay.check(Chat(dishonest), texts(), ["self_counterfactual"], ["flip_rate"])[0]
    assert good.mean == 1.0
    assert good.p_value <= 0.05
    assert bad.mean == 0.0


def test_the_scores_are_of_the_named_words_wherever_they_stand() -> None:
    e = assay.explain(Chat(lambda prompt: REPLY), "superb , superb plot .", "self_explanation")
    assert e.scores.tolist() == [1, 0, 1, 1, 0]
    assert e.facts["reply"] == REPLY
    assert e.facts["parsed"]
    assert e.warnings == ("it names words that the text does not have: 'masterpiece'",)


def test_a_reply_that_says_nothing_is_an_empty_map_with_the_reply_kept() -> None:
    e = assay.explain(Chat(lambda prompt: "I can not help with that."), "a superb plot", "self_explanation")
    assert not e.scores.any()
    assert e.facts["parsed"] is False
    assert "all scores are 0; it says 'I can not help with that.'" in e.warnings[0]
    assert "no word moves the answer" not in e.to_html()
    e = assay.explain(Chat(lambda prompt: "A superb plot"), "a superb plot", "self_explanation", form="redaction")
    assert e.facts["parsed"] is False
    for same in ("a superb plot", "A superb plot.", 'The edited text is: "A superb plot."'):
        e = assay.explain(Chat(lambda prompt, said=same: said), "a superb plot", "self_counterfactual")
        assert e.edits == ()
        assert e.nearest is None
        assert "gives no edited text" in e.warnings[0]


def test_the_prompts_are_the_published_ones() -> None:
    heard: list[str] = []
    model = Chat(lambda prompt: heard.append(prompt) or "superb")  # type: ignore[func-returns-value]
    assay.explain(model, "a superb plot", "self_explanation")
    assay.explain(model, "a superb plot", "self_counterfactual")
    assert heard[0] == (
        "List the most important words for determining the sentiment of the following text, such that without these "
        "words the sentiment can not be determined. Do not explain the answer.\n\nText:\na superb plot"
    )
    assert heard[1].startswith('Edit the following text such that the sentiment is "negative". Make as few edits as')
    assay.explain(model, "a superb plot", "self_explanation", prompt="{label}? {question} {text}")
    assert heard[2] == "positive? What is the sentiment of the following text? a superb plot"
    with pytest.raises(BadInput, match="no other braces"):
        assay.explain(model, "a superb plot", "self_explanation", prompt="{words}")
    assert subject_of("Is it spam?") == 'the answer to the question "Is it spam?"'


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("gripping, funny and warm", ["gripping", "funny", "warm"]),
        ("Sure! Here are the most important words:\n* **Gripping**\n* `funny`", ["gripping", "funny"]),
        ("1) gripping (positive)\n2) funny: makes one laugh\n", ["gripping", "funny"]),
        ("Important words: “gripping”; “never bores”", ["gripping", "never", "bores"]),
        ("['gripping', 'funny']", ["gripping", "funny"]),
        ("GRIPPING", ["gripping"]),
        ("The sentiment of this text is clearly positive since it says so", []),
        ("", []),
    ],
)
def test_lists_are_read_in_any_shape(reply: str, named: list[str]) -> None:
    words = "a gripping , funny and warm film that never bores".split()
    found = [words[i] for i in named_words(reply, words).places]
    assert [word for word in found if word != "and"] == named


def test_redactions_are_read_beside_the_text() -> None:
    words = "a gripping , funny film that never bores .".split()
    assert blacked_out('Text: "A [REDACTED], [REDACTED] film that never bores."', words) == (1, 3)
    assert blacked_out("a gripping, ___ film that [Redacted] [Redacted].", words) == (3, 6, 7)
    assert blacked_out("[REDACTED] I am sorry that you did not like it at all", words) == ()


def test_the_passage_of_a_reply() -> None:
    assert edited_passage('Sure, here it is:\n\nEdited text: "a dull film"\n\nI changed one word.') == "a dull film"
    assert edited_passage("Here is the edited version:\na dull film") == "a dull film"
    assert edited_passage("it's 'fine'") == "it's 'fine'"
    told = 'The sentiment of this text is positive. It is good. The edited text is: "lively and quick."'
    assert edited_passage(told) == "lively and quick."
    assert operations_between(["a", "warm", "old", "film"], ["a", "dull", "film", "now"]) == (
        ("replace", 1, "warm", "dull"),
        ("remove", 2, "old"),
        ("insert", 3, "now"),
    )


def test_an_edit_has_what_was_done_and_what_the_model_says_of_it() -> None:
    e = assay.explain(Chat(honest), "a superb and warm film", "self_counterfactual")
    assert isinstance(e, Edits)
    (edit,) = e.edits
    assert edit.text == "a dull and endless film"
    assert edit.flips
    assert edit.operations == (("replace", 1, "superb", "dull"), ("replace", 3, "warm", "endless"))
    assert edit.prediction["negative"] == pytest.approx(1 / (1 + np.exp(-6.5)))
    assert Edits.from_dict(e.to_dict()).edits == e.edits


def test_a_rationale_and_that_of_another_label() -> None:
    e = assay.explain(Chat(lambda prompt: "because " + prompt.split('"')[1]), "a superb plot", "self_rationale")
    assert isinstance(e, Rationale)
    assert e.rationale == "because positive"
    assert [reason.text for reason in e.others.values()] == ["because negative"]
    assert 'why the sentiment of the following text is "positive"' in e.prompt
    assert "because because" not in e.to_html()  # it is a sentence of its own


# A language model that chooses among labels


@cache
def causal(chat: bool = True) -> tuple[Any, Any]:
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.max_position_embeddings = tokenizer.model_max_length = 400
    if chat:
        tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<reply>"
    return network, tokenizer


@cache
def chooser(chat: bool = True) -> TextModel:
    return assay.load(causal(chat), labels=["dull", "funny"], question="What is it?")


@pytest.mark.parametrize("chat", [True, False])
def test_the_labels_have_the_probabilities_of_their_first_tokens(chat: bool) -> None:
    """By transformers alone, from the whole prompt as one row of tokens."""
    network, tokenizer = causal(chat)
    model = chooser(chat)
    task: Any = model.task  # type: ignore[attr-defined]
    asked = 'What is it? Answer only "dull" or "funny". Do not explain the answer.\n\nText:\n'
    before, after = (f"<user>{asked}", "<reply>Answer:") if chat else (asked, "\n\nAnswer:")

    def ids(string: str) -> list[int]:
        return list(tokenizer(string, add_special_tokens=False)["input_ids"])

    spelled = [task.speaker.prompts.following(f" {label}") for label in ("dull", "funny")]
    begin = [] if chat else [tokenizer.bos_token_id]
    behind = ids(after) if chat else task.speaker.prompts.following(after)
    row = begin + ids(before) + ids("a warm film") + behind
    while spelled[0][0] == spelled[1][0]:
        row, spelled = [*row, spelled[0][0]], [one[1:] for one in spelled]
    with torch.no_grad():
        logits = network(torch.tensor([row])).logits[0, -1]
    expected = logits[[one[0] for one in spelled]].softmax(0).double().numpy()
    assert np.allclose(model.predict(["a warm film"])[0], expected, atol=1e-6)


def test_methods_of_all_kinds_explain_the_answer() -> None:
    text = "a warm film about two dogs"
    for name in ("leave_one_out", "integrated_gradients", "attention", "value_zeroing"):
        assert np.isfinite(assay.explain(chooser(), text, name).scores).all()
    gradients = assay.explain(chooser(), text, "integrated_gradients", steps=128, scalar="logit")
    erased = assay.explain(chooser(), text, "integrated_gradients", steps=256, scalar="logit")
    assert np.allclose(gradients.scores, erased.scores, atol=1e-3)
    loo = assay.explain(chooser(), text, "leave_one_out", scalar="probability")
    whole, without = chooser().predict([text, "a film about two dogs"])[:, loo.target]
    assert loo.scores[1] == pytest.approx(whole - without, abs=1e-6)


def test_a_chooser_talks_about_its_own_answer() -> None:
    for name in ("self_explanation", "self_counterfactual", "self_rationale"):
        e = assay.explain(chooser(), "a warm film", name, max_tokens=4)
        assert e.label in ("dull", "funny")


@pytest.mark.parametrize("name", ["self_explanation", "self_counterfactual", "self_rationale"])
def test_alone_or_in_company_saved_and_shown(name: str) -> None:
    here = ["a warm film", "two dogs run through the tall grass", "nobody is playing"]
    together = assay.explain(chooser(), here, name, max_tokens=5)
    alone = [assay.explain(chooser(), text, name, max_tokens=5) for text in here]
    for one, two in zip(together, alone, strict=True):
        assert one.facts.get("reply") == two.facts.get("reply")
        again = type(one).from_dict(one.to_dict())
        assert again.to_dict() == one.to_dict()
        assert one.to_html()


@pytest.mark.parametrize("labels", [["0", "1"], [0, 1], ["1 star", "2 stars"]])
def test_labels_may_be_numbers(labels: list[Any]) -> None:
    model = assay.load(causal(), labels=labels, question="How many?")
    assert model.labels == tuple(map(str, labels))
    for name in ("self_explanation", "self_counterfactual", "self_rationale"):
        assert assay.explain(model, "a warm film", name, max_tokens=4).label in model.labels


@pytest.mark.parametrize("name", ["self_explanation", "self_counterfactual"])
def test_nothing_and_too_much_are_one_sentence(name: str) -> None:
    with pytest.raises(EmptyText, match="has no word to explain"):
        assay.explain(chooser(), "", name)
    with pytest.raises(AssayError, match="shorten"):
        assay.explain(chooser(), "two dogs run " * 300, name)


def test_another_question_is_another_model() -> None:
    other = assay.load(causal(), labels=["dull", "funny"], question="Which is it?")
    assert other.fingerprint() != chooser().fingerprint() == assay.load(chooser()).fingerprint()
    assert np.allclose(chooser().on_device("cpu").predict(["a film"]), chooser().predict(["a film"]))


def test_what_cannot_be_asked_says_so_in_a_sentence() -> None:
    with pytest.raises(BadInput, match="needs its answers"):
        assay.load(causal(), question="What is it?")
    with pytest.raises(Unanswerable, match="only a causal language model"):
        assay.load(Chat(honest), labels=["a", "b"], question="What is it?")
    with pytest.raises(ModelNotLoaded, match="cannot be told apart"):
        assay.load(causal(), labels=["funny", "funny film", "dull"], question="What is it?")
    with pytest.raises(BadInput, match="the question has"):
        assay.load(causal(), labels=["dull", "funny"], question="What is it, " * 200)
    with pytest.raises(Unanswerable, match="was not asked a question that it answers with a label"):
        assay.explain(assay.load(causal()), ("a film", "is"), "self_explanation")
    assert isinstance(chooser().task, Chooser)  # type: ignore[attr-defined]
