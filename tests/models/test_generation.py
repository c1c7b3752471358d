"""Generate and Likelihood: against transformers' own generate, a plain loop, and the probabilities themselves."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.transformers.sampling import choose, draw
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Likelihood, Prompt, Sampling

PAIRS = {
    "gpt2": lambda: tiny.causal_lm("gpt2"),
    "llama": lambda: tiny.causal_lm("llama"),
    "t5": lambda: tiny.seq2seq("t5"),
    "bart": lambda: tiny.seq2seq("bart"),
}
family = pytest.mark.parametrize("name", PAIRS)
PROMPTS = ["The plot was dull", "A", "Two dogs run through the tall grass, chasing", "It's not good"]
WARM = Sampling(temperature=1.0)
START = {"bart": [2, 0]}  # what its decoder is given before the output


def engine(name: str, **more: Any) -> Engine:
    return Engine(assay.load(PAIRS[name]()), **more)


def together(engine: Engine, *questions: Any) -> list[Any]:
    def ask(question: Any) -> Conversation[Any]:
        return (yield question)

    return [outcome.get() for outcome in engine.run(map(ask, questions))]


def own(name: str, prompt: str, **how: Any) -> list[list[int]]:
    """What transformers itself writes, one prompt at a time, without the prompt and the special tokens."""
    model, tokenizer = PAIRS[name]()
    coded = tokenizer(prompt, return_tensors="pt")
    settings = {"max_new_tokens": 7, "do_sample": False, "pad_token_id": 0, **how}
    if name == "bart":  # it writes the token that begins every text itself
        settings |= {"forced_bos_token_id": 0, "max_new_tokens": 8}
    with torch.no_grad():
        rows = model.generate(input_ids=coded["input_ids"], attention_mask=coded["attention_mask"], **settings)
    # An encoder-decoder's output begins with its start token, and bart's with the <s> that it is given.
    skip = coded["input_ids"].shape[1] if name in ("gpt2", "llama") else 2 if name == "bart" else 1
    ends = {model.config.eos_token_id}
    return [[token for token in row[skip:].tolist() if token not in ends | {model.config.pad_token_id}] for row in rows]


def likelihood(name: str, prompt: str, ids: list[int], start: list[int] | None = None) -> float:
    model, tokenizer = PAIRS[name]()
    head = tokenizer(prompt, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        if name in ("gpt2", "llama"):
            logits = model(input_ids=torch.cat([head, torch.tensor([ids])], 1)[:, :-1]).logits[0, head.shape[1] - 1 :]
        else:
            before = torch.tensor([[*(start or [model.config.decoder_start_token_id]), *ids][: -1 or None]])
            logits = model(input_ids=head, decoder_input_ids=before).logits[0, len(start or [0]) - 1 :]
    return float(logits.double().log_softmax(-1).gather(1, torch.tensor(ids)[:, None]).sum())


@family
@pytest.mark.parametrize("beams", [1, 3])
def test_greedy_and_beam_search_write_what_transformers_writes(name: str, beams: int) -> None:
    if name == "bart" and beams > 1:
        pytest.skip("transformers counts the token that begins every text as one of the beam's")
    found = together(
        engine(name), *(Generate(p, max_tokens=7, n=beams, sampling=Sampling(beams=beams)) for p in PROMPTS)
    )
    tokenizer = PAIRS[name]()[1]
    for prompt, texts in zip(PROMPTS, found, strict=True):
        theirs = own(name, prompt, num_beams=beams, num_return_sequences=beams)
        for text, ids in zip(texts, theirs, strict=True):
            decoded = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
            assert text.text.strip() == decoded.strip()
            assert "".join(text.tokens) == text.text
            assert len(text.log_probs) == len(ids)
            assert float(text.log_probs.sum()) == pytest.approx(
                likelihood(name, prompt, ids, START.get(name)), abs=1e-4
            )


@pytest.mark.parametrize("beams", [2, 4])
def test_beams_that_end_early_compete_by_their_mean_as_in_transformers(beams: int) -> None:
    """Eight tokens that often come end a text, so that candidates of many lengths are there."""
    model, tokenizer = deepcopy(tiny.causal_lm("gpt2"))
    often = engine("gpt2").ask(Generate("The plot was", n=40, max_tokens=6, sampling=WARM))
    counts = Counter(token for text in often for token in tokenizer(text.text)["input_ids"])
    model.generation_config.eos_token_id = [token for token, _ in counts.most_common(8)]
    goes_on = {*range(1, 499)}.difference(model.generation_config.eos_token_id).__contains__
    mine = together(
        Engine(assay.load((model, tokenizer))),
        *(Generate(p, n=beams, max_tokens=12, sampling=Sampling(beams=beams)) for p in PROMPTS),
    )
    lengths = set()
    for prompt, texts in zip(PROMPTS, mine, strict=True):
        coded = tokenizer(prompt, return_tensors="pt")
        how = {"max_new_tokens": 12, "num_beams": beams, "num_return_sequences": beams, "pad_token_id": 499}
        rows = model.generate(**coded, do_sample=False, **how)[:, coded["input_ids"].shape[1] :].tolist()
        theirs = [list(takewhile(goes_on, row)) for row in rows]
        assert [text.text for text in texts] == [tokenizer.decode(row) for row in theirs]
        lengths |= {len(row) for row in theirs}
    assert len(lengths) > 2


@family
def test_likelihood_is_that_of_a_plain_loop(name: str) -> None:
    rest = [" was very good", " film", " never lets go of its audience"]
    found = together(engine(name), *(Likelihood(p, *rest) for p in PROMPTS))
    task = assay.load(PAIRS[name]()).task
    for prompt, answers in zip(PROMPTS, found, strict=True):
        for string, answer in zip(rest, answers, strict=True):
            assert answer.total == pytest.approx(
                likelihood(name, prompt, task.following(string), START.get(name)), abs=1e-4
            )
            assert "".join(answer.tokens) == string
            assert len(answer.tokens) == len(answer.log_probs)


def test_a_long_continuation_is_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = engine("gpt2").ask(Likelihood("A man", " in a red shirt is playing a guitar"))[0]
    monkeypatch.setattr("assay.models.transformers.handlers.likelihood._MOST", 2 * 500)
    parts = engine("gpt2").ask(Likelihood("A man", " in a red shirt is playing a guitar"))[0]
    assert np.allclose(whole.log_probs, parts.log_probs, atol=1e-5)
    assert whole.tokens == parts.tokens


@family
def test_a_sample_is_the_same_alone_and_in_company(name: str) -> None:
    wanted = [Generate(p, n=2, seed=3, max_tokens=9, sampling=Sampling(0.9, 0.95)) for p in PROMPTS]
    others = [Generate(f"{p} {i}", n=2, seed=i, max_tokens=5 + i % 7, sampling=WARM) for i in range(8) for p in PROMPTS]
    alone = [engine(name).ask(question)[0].text for question in wanted]
    among = together(engine(name), *others, *wanted[::-1])[len(others) :][::-1]
    assert [texts[0].text for texts in among] == alone
    assert len({texts[1].text for texts in among} | set(alone)) > len(PROMPTS)  # numbers, seeds and prompts differ


def test_another_seed_writes_another_text() -> None:
    one, two = (engine("gpt2").ask(Generate("The", seed=s, sampling=WARM))[0].text for s in (0, 1))
    assert one != two


def test_tokens_come_as_often_as_they_are_likely() -> None:
    found = engine("gpt2").ask(Generate("The plot", n=4000, max_tokens=1, sampling=Sampling(temperature=2.0)))
    model, tokenizer = PAIRS["gpt2"]()
    with torch.no_grad():
        logits = model(**tokenizer("The plot", return_tensors="pt")).logits[0, -1].double()
    chances = (logits / 2).softmax(-1).numpy()
    for token in np.argsort(-chances)[:5]:
        p = chances[token]
        share = np.mean([np.isclose(text.log_probs[:1], logits.log_softmax(-1)[token]).any() for text in found])
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / 4000)


def test_top_p_leaves_the_fewest_likeliest_tokens() -> None:
    logits = np.log([0.1, 0.5, 0.15, 0.25])
    drawn = {draw(logits, Sampling(1.0, 0.7), u) for u in np.linspace(0, 0.999, 200)}
    assert drawn == {1, 3}
    shares = np.mean([draw(logits, Sampling(1.0, 0.7), u) == 1 for u in np.linspace(0, 0.9999, 3000)])
    assert shares == pytest.approx(2 / 3, abs=0.01)
    assert {draw(logits, Sampling(1.0, 0.5), u) for u in (0.0, 0.5, 0.999)} == {1}


def test_top_p_sorts_only_likely_tokens_and_draws_as_if_it_sorted_all() -> None:
    generator = np.random.default_rng(0)
    for top_p in (0.3, 0.9, 0.999):
        for _ in range(40):
            logits, u = generator.normal(size=300) * generator.uniform(0, 5), generator.random()
            chances = np.exp(logits) / np.exp(logits).sum()
            order = sorted(range(300), key=lambda i: -chances[i])
            kept = [i for k, i in enumerate(order) if chances[order[:k]].sum() < top_p]
            bounds = np.cumsum([chances[i] if i in kept else 0.0 for i in range(300)])
            assert draw(logits, Sampling(1.0, top_p), u) == int((bounds <= u * bounds[-1]).sum())


@pytest.mark.parametrize("sharpness", [0.0, 0.5, 3.0])
def test_tokens_of_many_rows_are_those_that_a_draw_over_the_whole_vocabulary_gives(sharpness: float) -> None:
    """Flat rows (0: all tokens alike) are not settled by the likeliest tokens, sharp ones are; ties are in both."""
    rng = np.random.default_rng(3)
    logits = torch.tensor(np.round(rng.normal(0, 1, (60, 2000)) * sharpness, 1), dtype=torch.float32)
    kinds = [Sampling(0.9, 0.95), Sampling(0.3, 0.5), Sampling(1.0), Sampling()] * 15
    numbers = rng.random(60).tolist()
    found = choose(logits, kinds, numbers)
    for (token, log_prob), row, kind, u in zip(found, logits.double(), kinds, numbers, strict=True):
        assert token == (draw(row.numpy(), kind, u) if kind.by_chance else int(row.numpy().argmax()))
        assert log_prob == pytest.approx(float(row.log_softmax(-1)[token]), abs=1e-6)


def test_a_stop_string_ends_a_text_and_is_no_part_of_it() -> None:
    whole = engine("gpt2").ask(Generate("The plot was", max_tokens=12, seed=1, sampling=WARM))[0]
    stop = whole.text[4:6]
    cut = engine("gpt2").ask(Generate("The plot was", max_tokens=12, seed=1, stop=[stop], sampling=WARM))[0]
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert cut.ended == "stop"
    assert "".join(cut.tokens) == cut.text
    assert len(cut.tokens) == len(cut.log_probs) <= cut.written < whole.written


def test_written_tokens_are_counted_once() -> None:
    asked = engine("gpt2")
    question = Generate("The plot was", n=3, max_tokens=6, sampling=WARM)
    found = asked.ask(question)
    assert asked.totals.generated == sum(text.written for text in found) > 3
    asked.ask(question)
    assert asked.totals.generated == sum(text.written for text in found)
    assert (asked.totals.forwards, asked.totals.hits) == (3, 3)


def test_a_model_that_pads_badly_and_has_no_cache_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.models.transformers import decoding
    from assay.models.transformers.handlers import generate

    questions = [Generate(p, max_tokens=6) for p in PROMPTS]
    fast = [texts[0].text for texts in together(engine("llama"), *questions)]
    known = decoding.Ways(padded=True, cached=True, shared=True, a_pass=decoding.A_PASS)
    assert decoding.tried(assay.load(PAIRS["llama"]()).task) == known
    monkeypatch.setattr(generate, "tried", lambda task: decoding.Ways(padded=False, cached=False))
    assert [texts[0].text for texts in together(engine("llama"), *questions)] == fast


def test_a_model_without_positions_that_move_is_not_padded() -> None:
    """GPT-2 counts its positions from the left unless it is told better: without that, padding is found out."""
    from assay.models.transformers import decoding

    model = assay.load(tiny.causal_lm("gpt2"))
    assert decoding.tried(model.task).padded
    model.network.takes = model.network.takes - {"position_ids"}
    assert decoding.tried(model.task) == decoding.Ways(padded=False, cached=True)


def test_without_an_end_token_the_length_ends_a_text() -> None:
    model, tokenizer = deepcopy(tiny.causal_lm("gpt2"))
    model.config.eos_token_id = model.generation_config.eos_token_id = None
    tokenizer.eos_token = tokenizer.bos_token = None
    text = Engine(assay.load((model, tokenizer))).ask(Generate("The plot", max_tokens=5))[0]
    assert (text.ended, text.written) == ("length", 5)


def test_the_window_is_the_most_that_is_written() -> None:
    prompt = "a " * 60
    text = engine("gpt2").ask(Generate(prompt, max_tokens=500, sampling=WARM))[0]
    assert text.written <= tiny.WINDOW
    with pytest.raises(BadInput, match="shorten it"):
        engine("gpt2").ask(Generate("a " * 100))
    with pytest.raises(BadInput, match="room for"):
        engine("gpt2").ask(Likelihood(prompt, " film" * 40))


def test_a_bad_prompt_does_not_harm_its_neighbours() -> None:
    def ask(question: Any) -> Conversation[Any]:
        return (yield question)

    outcomes = list(engine("gpt2").run(map(ask, [Generate("The"), Generate("a " * 100), Generate("")])))
    assert [type(outcome.error).__name__ for outcome in outcomes] == ["NoneType", "BadInput", "NoneType"]


def test_an_empty_continuation_has_no_tokens() -> None:
    found = engine("gpt2").ask(Likelihood("The", "", " film"))
    assert (found[0].tokens, found[0].total, found[0].mean) == ((), 0.0, 0.0)
    assert found[1].total < 0


CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<reply>{% endif %}"
)


def test_a_chat_model_is_asked_through_its_template() -> None:
    model, tokenizer = deepcopy(tiny.causal_lm("gpt2"))
    with pytest.raises(Unanswerable, match="no chat template"):
        Engine(assay.load((model, tokenizer))).ask(Generate(Prompt("The film", chat=True)))
    tokenizer.chat_template = CHAT
    chat = Engine(assay.load((model, tokenizer)))
    said = chat.ask(Generate(Prompt("The film", " Well,", chat=True), max_tokens=6))[0]
    assert said.text == chat.ask(Generate("<user>The film<reply> Well,", max_tokens=6))[0].text
    tokenizer.chat_template = "{{ raise_exception('no users here') }}"
    with pytest.raises(Unanswerable, match="no users here"):
        Engine(assay.load((model, tokenizer))).ask(Generate(Prompt("The film", chat=True)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sampling(temperature=-1),
        lambda: Sampling(top_p=0),
        lambda: Sampling(beams=0),
        lambda: Sampling(1.0, beams=2),
        lambda: Generate("a", n=2),
        lambda: Generate("a", max_tokens=0),
        lambda: Generate("a", stop=[""]),
        lambda: Prompt("\ud800"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any) -> None:
    with pytest.raises(BadInput):
        make()


def test_a_classifier_writes_nothing() -> None:
    with pytest.raises(AssayError, match="cannot answer Generate"):
        Engine(assay.load(tiny.bert())).ask(Generate("The film"))
