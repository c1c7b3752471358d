"""Universal triggers: a planted word is found first, a slow loop agrees, random triggers turn nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput, UnknownName
from assay.explanations.base import Explanation
from assay.methods.adversarial.trigger_search import TriggerSearch, with_trigger
from assay.questions.base import Aim
from assay.questions.embeddings import Embeddings
from assay.text.text import Text

PLANTED = "street"  # a word of the corpus that stands in none of the texts below
SMALL: dict[str, Any] = {"length": 1, "beam": 1, "candidates": 5, "rounds": 1, "random": 5, "search": 12}


@pytest.fixture(scope="module")
def planted() -> tuple[Any, Any]:
    """A bag of words in which one word outweighs any text on its own, and every other word weighs little."""
    bow = tiny.linear_bow()
    model = deepcopy(bow.model)
    with torch.no_grad():
        model.embedding.weight.mul_(0.05)
        direction = model.direction
        model.embedding.weight[bow.tokenizer.get_vocab()[PLANTED]] = -40 * direction / direction.square().sum()
        model.embedding.weight[bow.tokenizer.get_vocab()["film"]] = 5 * direction / direction.square().sum()
    return model, bow.tokenizer


@pytest.fixture(scope="module")
def engine(planted: tuple[Any, Any]) -> Engine:
    return Engine(assay.load(planted))


TEXTS = [f"a {word} film" for word in ("funny", "sad", "slow", "sharp", "red", "tall", "quick", "lazy", "empty", "big")]


def described(engine: Engine, sample: Any, **settings: Any) -> Any:
    return assay.describe(engine.model, sample, "universal_triggers", engine=engine, progress=False, **settings)


def test_a_planted_word_is_found_first_and_random_words_turn_nothing(engine: Engine) -> None:
    e = described(engine, TEXTS, **SMALL)
    assert [one.search for one in e.triggers] == ["plain words", "any word"]
    for one in e.triggers:
        assert one.words == (PLANTED,)
        assert (one.turned.count, one.turned.of) == (5, 5)
        assert one.random.value == 0.0
        assert one.gain.value == 1.0
        assert [step[0] for step in one.path] == [("the",), (PLANTED,)]
        assert one.path[1][1] < 0 < one.path[0][1]
    assert e.without.count == 0
    assert e.facts["searched_on"] == e.facts["reported_on"] == 5
    assert e.warnings == ("only 5 texts to report on: the shares are rough",)


def test_all_places_of_a_longer_trigger_and_a_suffix(engine: Engine) -> None:
    e = described(engine, TEXTS, **SMALL | {"length": 3, "rounds": 2}, place="suffix", unconstrained=False)
    (one,) = e.triggers
    assert one.words == (PLANTED,) * 3
    assert one.examples[0].before != one.examples[0].after
    assert e.place == "suffix"


def test_words_of_the_class_itself_are_not_plain(engine: Engine) -> None:
    """Where texts of the other label have the planted word, only the search without constraints may take it."""
    own = [f"a {word} {PLANTED}" for word in ("funny", "sad", "slow")]
    plain, free = described(engine, [*TEXTS, *own], **SMALL).triggers
    assert PLANTED not in plain.words
    assert free.words == (PLANTED,)
    assert plain.turned.count == 0


def test_a_file_of_words_is_excluded(engine: Engine, tmp_path: Any) -> None:
    (tmp_path / "words.txt").write_text(f"; a lexicon\n{PLANTED}\n", encoding="utf-8")
    plain, free = described(engine, TEXTS, **SMALL, exclude=str(tmp_path / "words.txt")).triggers
    assert (plain.words == (PLANTED,), free.words == (PLANTED,)) == (False, True)


@pytest.mark.parametrize("up", [False, True])
def test_the_search_is_that_of_a_slow_loop(up: bool) -> None:
    """Greedy, from the gradients of plain forward passes, over a network that is not linear."""
    network, tokenizer = tiny.bert()
    engine = Engine(assay.load((network, tokenizer)))
    texts = tuple(Text.of(text) for text in ("a funny film", "the plot was dull", "two dogs run"))
    search = TriggerSearch(texts, Aim(1), up, "prefix", beam=1, candidates=4, rounds=2)
    vocabulary = engine.ask(Embeddings())
    (found,) = engine.run([search.run(("the", "the"), vocabulary)])
    assert found.get()[0] == slow_search(network, tokenizer, texts, up, vocabulary.words)


def slow_search(network: Any, tokenizer: Any, texts: Any, up: bool, words: Any) -> tuple[str, ...]:
    table = network.get_input_embeddings().weight.detach()
    sign = -1 if up else 1

    def odds(logits: torch.Tensor) -> torch.Tensor:
        return logits[1] - logits[[0, *range(2, len(logits))]].logsumexp(0)

    def value(trigger: tuple[str, ...]) -> float:
        rows = [tokenizer(" ".join([*trigger, text.strings[0]]), return_tensors="pt") for text in texts]
        with torch.no_grad():
            return sign * float(np.mean([float(odds(network(**row).logits[0])) for row in rows]))

    def gradient(trigger: tuple[str, ...], i: int) -> torch.Tensor:
        total = torch.zeros(table.shape[1])
        for text in texts:
            row = tokenizer(" ".join([*trigger, text.strings[0]]), return_tensors="pt")
            vectors = table[row["input_ids"]].clone().requires_grad_()
            out = network(inputs_embeds=vectors, attention_mask=row["attention_mask"]).logits[0]
            (own,) = torch.autograd.grad(odds(out), vectors)
            total += own[0, row.word_to_tokens(i).start]
        return sign * total / len(texts)

    ids = tokenizer.convert_tokens_to_ids(list(words))
    trigger: tuple[str, ...] = ("the", "the")
    for _ in range(2):
        for i in range(2):
            order = torch.argsort(table[ids] @ gradient(trigger, i), stable=True).tolist()
            best = [words[k] for k in order if words[k] != trigger[i]][:4]
            trigger = min([trigger, *((*trigger[:i], word, *trigger[i + 1 :]) for word in best)], key=value)
    return trigger


def test_of_a_pair_the_last_text_has_the_trigger(engine: Engine) -> None:
    pair = Text.of(("a man", "a film"), focus=["hypothesis"])
    assert with_trigger(pair, ("x", "y"), "prefix").strings == ("a man", "x y a film")
    assert with_trigger(pair, ("x", "y"), "suffix").strings == ("a man", "a film x y")
    assert with_trigger(pair, ("x", "y"), "suffix").words == ("x", "y")
    e = described(Engine(assay.load(tiny.bert())), [(text, "it is there") for text in TEXTS[:6]], **SMALL)
    assert " | it is there" in e.triggers[0].examples[0].text if e.triggers[0].examples else True
    assert e.facts["reported_on"] == 3


def test_labels_of_the_sample_choose_the_texts(engine: Engine) -> None:
    """Texts of a label that the model gets wrong already are turned without a trigger."""
    names = engine.model.labels
    wrong = [(f"a {PLANTED} of {text}", names[1]) for text in TEXTS[:4]]
    e = described(engine, wrong, **SMALL, turns=names[1])
    assert (e.without.count, e.without.of) == (2, 2)
    assert e.turns == names[1]


def test_toward_a_label_and_saved(engine: Engine) -> None:
    e = described(engine, TEXTS, **SMALL, into=engine.model.labels[0])
    assert e.into == engine.model.labels[0]
    assert e.triggers[0].words == (PLANTED,)
    back = Explanation.from_json(e.to_json())
    assert back.to_dict() == e.to_dict()
    assert e.to_frame()["trigger"].tolist() == [PLANTED, PLANTED]


def test_what_cannot_be_turned_is_refused(engine: Engine) -> None:
    with pytest.raises(BadInput, match="needs two or more"):
        described(engine, TEXTS, turns=engine.model.labels[0])
    with pytest.raises(BadInput, match="so none can be turned into it"):
        described(engine, TEXTS, into=engine.model.labels[1])
    with pytest.raises(UnknownName, match="label"):
        described(engine, TEXTS, turns="nonsense")
    with pytest.raises(BadInput, match="no texts"):
        described(engine, [])
    with pytest.raises(BadInput, match="random of 2"):
        described(engine, TEXTS, random=1)
    with pytest.raises(AssayError, match="GradientVectors"):
        assay.describe(lambda texts: np.full((len(texts), 2), 0.5), TEXTS, "universal_triggers")
