"""Input reduction: the path and the shortest set of a slow loop in plain torch, and promises about every version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
from scipy.stats import kendalltau, spearmanr

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, EmptyText, Unanswerable, UnknownName
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.methods.input_features.input_reduction import InputReduction, _Search
from assay.methods.input_features.reduced import Version
from assay.questions.answers import Gradients, Predictions
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict, Settle
from assay.text.text import Field, Text

WORDS = "a gripping funny film that never lets go of its audience dull acting worse watch again charming comedy".split()
MODELS = {"bert": tiny.bert, "roberta": tiny.roberta, "distilbert": tiny.distilbert}
ODD = [
    "film",
    "film film film film film",
    "كان الفيلم جميلا جدا",
    "🙂👍🏽 👩‍👩‍👧‍👦 🇩🇪 ok",
    "这部电影非常好看，我很喜欢。",
    "The plot was dull, the acting worse; I wouldn't watch it again!",
    "  two   blanks\tand a tab ",
    "x.y,z a_b 1st",
    "The plot, the plot: the plot",
]


def sentences(n: int, most: int = 11, seed: int = 0) -> list[str]:
    rng = Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, most))) for _ in range(n)]


class Slow:
    """The pseudo-code, one version at a time, on a model and its tokenizer: words are parted by single blanks."""

    def __init__(self, model: Any, tokenizer: Any, importance: str, width: str, beam: int, at_least: float) -> None:
        self.model, self.tokenizer, self.kind = model, tokenizer, importance
        self.width, self.beam, self.at_least = width, beam, at_least

    def log_chances(self, words: Sequence[str]) -> Any:
        with torch.no_grad():
            return self.model(**self.tokenizer(" ".join(words), return_tensors="pt")).logits[0].log_softmax(-1).double()

    def importance(self, words: Sequence[str], label: int) -> list[float]:
        if self.kind == "leave_one_out":
            whole = self.log_chances(words)[label]
            left = [self.log_chances([*words[:i], *words[i + 1 :]])[label] for i in range(len(words))]
            return [float(whole - one) for one in left]
        coded = self.tokenizer(" ".join(words), return_tensors="pt", return_offsets_mapping=True)
        places = coded.pop("offset_mapping")[0].tolist()
        embedded = self.model.get_input_embeddings()(coded.pop("input_ids")).detach().requires_grad_()
        loss = -self.model(inputs_embeds=embedded, **coded).logits.log_softmax(-1)[0, label]
        (gradient,) = torch.autograd.grad(loss, embedded)
        return [float(x) for x in self.per_word(words, places, embedded[0].detach(), gradient[0])]

    def per_word(self, words: Sequence[str], places: Any, embedded: Any, gradient: Any) -> Iterator[Any]:
        start = 0
        for word in words:
            mine = [i for i, (a, b) in enumerate(places) if a < start + len(word) and start < b]
            dot, square = (gradient[mine] * embedded[mine]).sum(), gradient[mine].square().sum()
            yield -dot if self.kind == "gradient" else square.sqrt()
            start += len(word) + 1

    def reduce(self, words: Sequence[str]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The words that are left after each step, and all shortest versions."""
        label = int(self.log_chances(words).argmax())
        whole = tuple(range(len(words)))
        beam, shortest, paths = [whole], [whole], {whole: [whole]}
        while beam and len(beam[0]) > 1:
            length = len(beam[0])
            k = max(1, min(self.beam, length - 3)) if self.width == "paper" else min(self.beam, length)
            proposals = []
            for kept in beam:
                scores = self.importance([words[i] for i in kept], label)
                order = sorted(range(length), key=lambda i: (round(scores[i], 6), i))[:k]
                for i in order:
                    rest = (*kept[:i], *kept[i + 1 :])
                    if all([words[j] for j in rest] != [words[j] for j in known] for _, known, _ in proposals):
                        proposals.append((scores[i], rest, kept))
            beam = []
            for _, kept, before in sorted(proposals, key=lambda proposal: proposal[0]):
                left = [words[i] for i in kept]
                chances = self.log_chances(left)
                if int(chances.argmax()) == label and float(chances[label].exp()) >= self.at_least:
                    beam.append(kept)
                    paths[kept] = [*paths[before], kept]
            shortest, beam = beam or shortest, beam[:k]
        return paths[shortest[0]], shortest


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"importance": "leave_one_out"},
        {"importance": "norm"},
        {"width": "constant", "beam": 3},
        {"at_least": 0.6, "beam": 2},
        {"beam": 1},
    ],
    ids=str,
)
def test_a_slow_loop_finds_the_same(name: str, settings: dict[str, Any]) -> None:
    model, tokenizer = MODELS[name]()
    texts = sentences(8)
    usual: dict[str, Any] = {"importance": "gradient", "width": "paper", "beam": 5, "at_least": 0.0}
    slow = Slow(model, tokenizer, **(usual | settings))
    for text, told in zip(texts, assay.explain((model, tokenizer), texts, "input_reduction", **settings), strict=True):
        path, shortest = slow.reduce(text.split())
        assert [edit.kept for edit in told.edits] == path, text
        assert [edit.kept for edit in told.shortest] == shortest, text


def test_the_slow_loop_is_worth_comparing_with() -> None:
    """Some texts lose many words, some stop before the last, and some have several shortest versions."""
    told = assay.explain(tiny.roberta(), sentences(8), "input_reduction")
    assert max(len(e.edits) for e in told) > 5
    assert max(len(e.shortest) for e in told) > 1
    assert any(1 < len(e.edits[-1].kept) < len(e.words) for e in told)


def agree(told: Edits, model: Any, *, whole: Any = None) -> None:
    """Every version says what it says it does, when the model is asked anew, and alone."""
    label = int(np.argmax(list(told.prediction.values())))
    for edit in (*told.edits, *told.shortest):
        chances = model.predict([edit.strings if len(edit.strings) > 1 else edit.strings[0]])[0]
        assert int(chances.argmax()) == label == told.target
        assert list(edit.prediction.values()) == pytest.approx(chances.tolist(), abs=1e-5)
        assert list(edit.prediction) == list(told.prediction)
    lengths = [len(edit.kept) for edit in told.edits]
    assert lengths == list(range(lengths[0], lengths[-1] - 1, -1))
    assert lengths[-1] >= 1
    assert told.edits[0].operations == ()
    assert told.edits[0].prediction == pytest.approx(dict(told.prediction), abs=1e-6)
    for edit in (*told.edits, *told.shortest):
        gone = [place for _, place, _ in edit.operations]
        assert sorted([*gone, *edit.kept]) == list(range(len(told.words)))
        assert edit.operations == tuple(("remove", i, told.words[i]) for i in gone)
    strings = [edit.strings for edit in told.shortest]
    assert len(set(strings)) == len(strings)
    assert {len(edit.kept) for edit in told.shortest} == {lengths[-1]}
    assert told.shortest[0] == told.edits[-1]


@pytest.mark.parametrize("settings", [{}, {"importance": "leave_one_out"}, {"importance": "norm", "width": "constant"}])
@pytest.mark.parametrize("build", [tiny.bert, tiny.roberta, tiny.albert, tiny.gpt2])
def test_every_version_keeps_the_prediction(build: Callable[[], Any], settings: dict[str, Any]) -> None:
    model = assay.load(build())
    for told in assay.explain(model, [*ODD, *sentences(2, seed=4)], "input_reduction", **settings):
        agree(told, model)
        for edit in told.edits:
            mask = np.isin(np.arange(len(told.words)), edit.kept)
            assert edit.strings == told.text.keep(mask).strings


def test_a_text_that_cannot_be_reduced_comes_back() -> None:
    (one, many) = assay.explain(tiny.bert(), ["film", "a dull film"], "input_reduction", at_least=1.0)
    for told in (one, many):
        assert [edit.text for edit in told.edits] == [edit.text for edit in told.shortest] == [str(told.text)]
        assert told.edits[0].operations == ()


def test_company_changes_nothing() -> None:
    model, texts = assay.load(tiny.bert()), [*ODD, *sentences(8, seed=9)]
    together = assay.explain(model, texts, "input_reduction")
    small = assay.explain(model, texts[::-1], "input_reduction", engine=Engine(model, budget=16))[::-1]
    for text, one, two in zip(texts, together, small, strict=True):
        alone = assay.explain(model, text, "input_reduction")
        for other in (two, alone):
            assert [(e.strings, e.operations) for e in one.edits] == [(e.strings, e.operations) for e in other.edits]
            assert [(e.strings, e.operations) for e in one.shortest] == [
                (e.strings, e.operations) for e in other.shortest
            ]


def test_versions_with_the_same_string_are_one() -> None:
    told = assay.explain(tiny.bert(), "dull film dull film dull film dull", "input_reduction", width="constant")
    assert len({edit.text for edit in told.shortest}) == len(told.shortest)


PAIR = ("a man in a red shirt is playing a guitar", "nobody is playing music on the empty street")


@pytest.mark.parametrize(
    ("settings", "reduced"),
    [
        ({}, 1),
        ({"field": "premise"}, 0),
        ({"focus": ["premise"]}, 0),
        ({"focus": ["premise"], "field": "hypothesis"}, 1),
    ],
)
def test_of_a_pair_one_field_is_reduced(settings: dict[str, Any], reduced: int) -> None:
    model = assay.load(tiny.bert())
    told = assay.explain(model, PAIR, "input_reduction", **settings)
    agree(told, model)
    assert told.words == tuple(PAIR[reduced].split())
    assert len(told.edits) > 1
    for edit in told.edits:
        assert edit.strings[1 - reduced] == PAIR[1 - reduced]
        assert edit.text == edit.strings[reduced] == " ".join(told.words[i] for i in edit.kept)


def test_pairs_with_an_empty_field_and_unknown_fields() -> None:
    assert assay.explain(tiny.bert(), ("a man sleeps", ""), "input_reduction").words == ("a", "man", "sleeps")
    with pytest.raises(UnknownName, match="no field is called 'hypotesis'"):
        assay.explain(tiny.bert(), PAIR, "input_reduction", field="hypotesis")
    with pytest.raises(EmptyText):
        assay.explain(tiny.bert(), ("a man sleeps", ""), "input_reduction", field="hypothesis")


def test_only_the_models_own_prediction_is_kept() -> None:
    model = assay.load(tiny.bert())
    own = assay.explain(model, "a funny film", "input_reduction")
    other = (own.target + 1) % 3
    assert assay.explain(model, "a funny film", "input_reduction", target=own.target).edits == own.edits
    with pytest.raises(BadInput, match="what the model itself says"):
        assay.explain(model, "a funny film", "input_reduction", target=other)
    against = assay.explain(model, "a funny film", "input_reduction", against=other)
    assert against.edits == own.edits
    assert "no contrast" in against.warnings[0]


def test_bad_parameters_are_refused() -> None:
    for settings in ({"beam": 0}, {"at_least": 1.5}, {"at_least": -0.1}, {"at_least": float("nan")}):
        with pytest.raises(BadInput, match="needs beam"):
            InputReduction(**settings)  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        assay.explain(tiny.bert(), "a film", "input_reduction", importance="gradiant")


def counted(texts: list[str]) -> np.ndarray:
    """A black box that knows three words."""
    value = np.array([2.0 * t.count("good") - 1.5 * t.count("dull") + 0.3 * t.count("film") for t in texts])
    return 1 / (1 + np.exp(-value))


def test_a_black_box_is_reduced_by_leaving_out() -> None:
    model = assay.BlackBox(counted, labels=["bad", "good"])
    with pytest.raises(Unanswerable, match="With importance=leave_one_out, input_reduction asks for Predict alone"):
        assay.explain(model, "a good film", "input_reduction")
    told = assay.explain(model, "a good and dull film for all", "input_reduction", importance="leave_one_out")
    agree(told, model)
    # "dull" is worst for "good" and goes first; of the words that say nothing the first ones go before "film".
    assert [edit.operations[-1][2] for edit in told.edits[1:]] == ["dull", "a", "and", "for", "all", "film"]
    assert told.edits[-1].text == "good"
    assert told.about.cost.backwards == 0


@pytest.mark.parametrize("importance", ["gradient", "leave_one_out", "norm"])
def test_second_order_facts(importance: str) -> None:
    """The maps of the path, and their correlations by scipy, over the words that remain in both."""
    model, undefined = assay.load(tiny.bert()), 0
    for text in sentences(8, seed=2):
        told = assay.explain(model, text, "input_reduction", importance=importance)
        maps, steps = told.facts["heat_maps"], list(zip(told.edits, told.edits[1:], strict=False))
        assert [len(heat) for heat in maps if heat] == [len(e.kept) for e in told.edits if len(e.kept) > 1]
        for k, (longer, shorter) in enumerate(steps):
            before = [score for i, score in zip(longer.kept, maps[k], strict=True) if i in shorter.kept]
            if len(before) < 2 or np.ptp(before) < 1e-5 or np.ptp(maps[k + 1]) < 1e-5:
                assert told.facts["kendall"][k] is told.facts["spearman"][k] is None
                undefined += 1
                continue
            assert told.facts["kendall"][k] == pytest.approx(kendalltau(before, maps[k + 1]).statistic)
            assert told.facts["spearman"][k] == pytest.approx(spearmanr(before, maps[k + 1]).statistic)
        assert told.facts["undefined_steps"] == told.facts["kendall"].count(None)
        json.dumps(told.to_dict(), allow_nan=False)
    assert undefined


def test_the_first_map_is_the_gradient_of_the_log_probability() -> None:
    """Against input x gradient of the probability, divided by it."""
    model, text = assay.load(tiny.bert()), "a gripping funny film that never lets go"
    told = assay.explain(model, text, "input_reduction")
    plain = assay.explain(model, text, "input_x_gradient", scalar="probability")
    assert told.facts["heat_maps"][0] == pytest.approx(plain.scores / told.prediction[told.label], abs=1e-6)


def test_a_flat_map_has_no_order() -> None:
    told = assay.explain(
        assay.BlackBox(lambda texts: np.full(len(texts), 0.7), labels=["a", "b"]),
        "one two three four five",
        "input_reduction",
        importance="leave_one_out",
    )
    assert told.facts["kendall"] == told.facts["spearman"] == [None] * 4
    assert (told.facts["undefined_steps"], told.facts["mean_kendall"]) == (4, None)
    # Nothing counts, so the words go in their order.
    assert [edit.text for edit in told.edits][1:3] == ["two three four five", "three four five"]


# Models that answer freely.

QUESTION, CONTEXT = "who was in the film ?", "The film was slow. A good cast was in the film, and a dull plot."


def reader(seed: int) -> Any:
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=tiny.WINDOW, initializer_range=0.25,
    )  # fmt: skip
    model = tiny.seeded(lambda: hf.BertForQuestionAnswering(config), seed)
    # Places count little, or a shorter question would move the context and with it the answer.
    model.bert.embeddings.position_embeddings.weight.data *= 0.1
    return model, tokenizer


def bare_answer(model: Any, tokenizer: Any, question: str) -> tuple[str, float]:
    """The likeliest span by a plain double loop, and its probability."""
    coded = tokenizer(question, CONTEXT, return_tensors="pt", return_offsets_mapping=True)
    inside = [i for i, s in enumerate(coded.sequence_ids(0)) if s == 1]
    places = coded.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        out = model(**coded)
    first, last = out.start_logits[0, inside].softmax(-1), out.end_logits[0, inside].softmax(-1)
    spans = [(s, e) for s in range(len(inside)) for e in range(s, min(s + 30, len(inside)))]
    s, e = max(spans, key=lambda span: float(first[span[0]] * last[span[1]]))
    start, end = places[inside[s]][0], places[inside[e]][1]
    return f"{start}:{end} {CONTEXT[start:end]}", float(first[s] * last[e])


@pytest.mark.parametrize("importance", ["gradient", "leave_one_out", "norm"])
def test_a_span_reader_keeps_its_span(importance: str) -> None:
    reduced = stopped = 0
    for seed in range(6):
        model, tokenizer = reader(seed)
        told = assay.explain((model, tokenizer), (QUESTION, CONTEXT), "input_reduction", importance=importance)
        span, _ = bare_answer(model, tokenizer, QUESTION)
        assert told.text.fields[2].string == span
        for edit in (*told.edits, *told.shortest):
            now, chance = bare_answer(model, tokenizer, edit.text)
            assert edit.strings == (edit.text, CONTEXT)
            assert now == span
            assert edit.prediction[told.label] == pytest.approx(chance, abs=1e-5)
        reduced += len(told.edits) > 1
        stopped += len(told.edits[-1].kept) > 1
    assert reduced > 2
    assert stopped


def test_an_answer_of_the_users_own_is_refused() -> None:
    given = {"question": QUESTION, "context": CONTEXT, "answer": "slow"}
    with pytest.raises(BadInput, match="what the model itself says"):
        assay.explain(reader(0), given, "input_reduction")
    with pytest.raises(BadInput, match="context must stay"):
        assay.explain(reader(0), (QUESTION, CONTEXT), "input_reduction", field="context")


def test_the_context_is_reduced_around_the_answer() -> None:
    told = assay.explain(reader(0), (QUESTION, CONTEXT), "input_reduction", focus=["context"])
    answer = told.label
    for edit in told.edits:
        assert answer in "".join(edit.strings[1:4]) if len(edit.strings) > 3 else answer in edit.strings[1]
    assert all(edit.strings[0] == QUESTION for edit in told.edits)


def by_hand(same: str) -> Edits:
    """A conversation with a reader that says "cat" at 0 to the whole question, and at 10 to any other."""
    fields = (Field("question", "who sat", ((0, 3), (4, 7))), Field("context", "cat and a cat", ()))
    whole = Text((*fields, Field("answer", "0:3 cat", (), "note")), ("question",))
    talk = InputReduction(same=same).explain(Case(whole, 1))  # type: ignore[arg-type]
    question = next(talk)
    try:
        while True:
            question = talk.send(answered(question))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def answered(question: Any) -> Any:
    if isinstance(question, Settle):
        return [placed(text, "0:3 cat" if "who sat" in text.strings else "10:13 cat") for text in question.texts]
    if isinstance(question, Predict):
        rows = question.rows(None)  # type: ignore[arg-type]
        return Predictions(np.array([[0.0, 1.0 if row[2] == "0:3 cat" else 2.0] for row in rows]))
    assert isinstance(question, InputGradient)
    return [Gradients(np.array([1.0]), np.arange(float(len(text)))[None]) for text in question.texts]


def placed(text: Text, answer: str) -> Text:
    return Text((*text.fields, Field("answer", answer, (), "note")), text.focus)


def test_the_same_words_in_another_place() -> None:
    assert [edit.text for edit in by_hand("span").edits] == ["who sat"]
    told = by_hand("string")
    assert [edit.text for edit in told.edits] == ["who sat", "sat"]
    # The confidence is that of the answer that the model gives now.
    chances = [edit.prediction["1"] for edit in told.edits]
    assert chances == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2))])


def own_answer(model: Any, text: str) -> str:
    """What the model says by itself, as the settled text tells it."""
    told = assay.explain(model, text, "leave_one_out")
    return str(told.text.fields[-1].string)


@pytest.mark.parametrize("build", [tiny.causal_lm, tiny.seq2seq, tiny.masked_lm])
def test_models_that_go_on_or_fill_keep_their_answer(build: Callable[[], Any]) -> None:
    model = assay.load(deepcopy(build()))
    hole = " [MASK]" if build is tiny.masked_lm else ""
    for text in sentences(3, seed=5, most=7):
        told = assay.explain(model, f"a {text}{hole} comedy", "input_reduction")
        assert {own_answer(model, edit.text) for edit in told.edits} == {told.text.fields[-1].string}


def test_a_tagger_keeps_the_word_and_its_tag() -> None:
    model = assay.load(tiny.token_tagger())
    told = assay.explain(model, {"text": "Two dogs run through the tall grass", "word": "2:run"}, "input_reduction")
    assert "run" not in told.words
    assert len(told.edits) > 1
    for edit in told.edits:
        words = edit.text.split()
        again = assay.explain(model, {"text": edit.text, "word": f"{words.index('run')}:run"}, "leave_one_out")
        assert again.label == told.label
        assert again.prediction == pytest.approx(dict(edit.prediction), abs=1e-5)


def test_proposals_of_all_versions_go_by_importance() -> None:
    """Not version by version: of the whole beam the least important words go first."""
    text = Text.of("a b c d e f")
    search = _Search(InputReduction(beam=2), Case(text, 1))
    whole = Version(text, tuple(range(6)))
    beam = [whole.without(0, 0.0), whole.without(1, 0.0)]
    proposals = search.proposals(beam, [np.array([5.0, 1, 4, 9, 8]), np.array([0.5, 3, 2, 9, 8])])
    assert [version.kept for version in proposals] == [(2, 3, 4, 5), (1, 3, 4, 5), (0, 2, 4, 5), (1, 2, 4, 5)]
