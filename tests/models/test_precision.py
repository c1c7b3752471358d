"""Half precision: what is computed in it and what is not, what it leaves alone, and what it says about itself."""

from __future__ import annotations

import inspect
import json
import pickle
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from scipy.stats import kendalltau

import assay
from assay import cli
from assay.engine.engine import Engine
from assay.errors import AssayError, ModelNotLoaded, UnknownName
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.models.base import TextModel
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.precision import _SAME, SAMPLE, Difference, Lowered, difference, facts, sentence
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

TEXTS = list(tiny.CORPUS[:10])
TEXT = TEXTS[0]


def pair() -> tuple[Any, Any]:
    return tiny.bert()


def logits(model: Any, *texts: str) -> Any:
    return Engine(model).ask(Predict(*map(Text.of, texts))).logits


def test_the_encoder_is_in_bf16_and_the_head_in_float32() -> None:
    net, tokenizer = pair()
    inputs = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pooled = net.bert(**inputs).pooler_output
        expected = net.classifier(pooled.float())
        whole = net(**inputs).logits
    assert pooled.dtype == torch.bfloat16
    found = logits(assay.load(pair(), dtype="bf16"), TEXT)
    assert found == pytest.approx(expected.double().numpy(), abs=1e-6)
    assert np.abs(found - whole.double().numpy()).max() > 1e-4
    assert logits(assay.load(pair()), TEXT) == pytest.approx(whole.double().numpy(), abs=1e-6)


def test_logits_are_not_rounded() -> None:
    found = torch.tensor(logits(assay.load(pair(), dtype="bf16"), *TEXTS))
    assert (found.bfloat16().double() - found).abs().max() > 1e-4


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_is_near_float32(family: str) -> None:
    source = tiny.FAMILIES[family]()
    low, full = assay.load(source, dtype="bf16"), assay.load(source)
    assert np.abs(logits(low, *TEXTS[:3]) - logits(full, *TEXTS[:3])).max() < 0.3
    if family == "slow":
        return
    a, b = (assay.explain(model, TEXT, "input_x_gradient", target=0) for model in (low, full))
    assert 0 < np.abs(a.scores - b.scores).max() < 0.5 * np.abs(b.scores).max()


def _state(net: Any) -> tuple[Any, ...]:
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in net.modules()]
    weights = {name: (tensor.dtype, tensor.clone()) for name, tensor in net.state_dict().items()}
    return hooks, weights, torch.is_autocast_enabled("cpu")


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    weights = all(a[1][k][0] == b[1][k][0] and torch.equal(a[1][k][1], b[1][k][1]) for k in a[1])
    return a[0] == b[0] and a[2] == b[2] and weights


def test_it_is_asked_like_its_reference() -> None:
    """What a transformers model does in its own way, and what handlers are asked, goes to the reference."""
    known = {**vars(TextModel), **dict.fromkeys(TextModel.__annotations__)}
    told = {name: getattr(value, "fget", None) or value for name, value in known.items() if not name.startswith("_")}
    methods = {name: value for name, value in told.items() if inspect.isfunction(value)}
    own = {name for name in methods if getattr(HuggingFace, name) is not getattr(TextModel, name)}
    own |= {name for name, value in methods.items() if "self.answers[" in inspect.getsource(value)}
    alone = {"side_by_side"}  # the types of layers are switched for one thread at a time
    assert own | set(TextModel.__annotations__) == (own & set(vars(Lowered))) | set(_SAME) | alone


def test_the_users_model_stays_as_it_is() -> None:
    net, _ = pair()
    before = _state(net)
    model = assay.load(pair(), dtype="bf16")
    assay.explain(model, TEXT, "leave_one_out")
    assay.explain(model, TEXT, "integrated_gradients", steps=4)
    assert model.model is net
    assert model.reference.model is net
    assert _same(before, _state(net))


def test_also_after_an_error_inside_the_base_model(monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = pair()
    before, model = _state(net), assay.load(pair(), dtype="bf16")

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(net.bert.encoder, "forward", broken)
    with pytest.raises(AssayError, match="the model failed"):
        assay.explain(model, TEXT, "leave_one_out")
    assert _same(before, _state(net))


def test_what_is_said_is_what_a_slow_loop_finds() -> None:
    low, full = assay.load(pair(), dtype="bf16"), assay.load(pair())
    told = assay.explain(low, TEXTS, "leave_one_out")
    whole = assay.explain(full, TEXTS, "leave_one_out")
    taus, first, moved, labels = [], 0, [], 0
    for a, b in list(zip(told, whole, strict=True))[:SAMPLE]:
        assert a.target == b.target  # the sample is chosen so
        taus.append(kendalltau(a.scores, b.scores).statistic)
        first += int(np.argmax(a.scores) != np.argmax(b.scores))
        moved.append(np.abs(a.scores - b.scores).max() / np.abs(b.scores).max())
        labels += max(a.prediction, key=a.prediction.get) != max(b.prediction, key=b.prediction.get)
    for e in told:
        known = e.facts["precision"]
        assert known["texts"] == SAMPLE == 8
        assert known["tau"] == pytest.approx(np.mean(taus))
        assert known["least_tau"] == pytest.approx(min(taus))
        assert known["largest_score_change"] == pytest.approx(max(moved))
        assert (known["first_word_changed"], known["label_changed"]) == (first, labels)
        assert e.warnings[-1].startswith(
            f"bf16: on 8 of your texts the order of the words agreed with fp32 by tau {np.mean(taus):.2f}"
        )
    assert len({tuple(e.scores) for e in told}) == len(TEXTS)
    assert [list(e.words) for e in told] == [list(e.words) for e in whole]
    assert all(e.facts.keys().isdisjoint({"precision"}) and not e.warnings for e in whole)


def test_the_cost_is_that_of_half_precision_alone() -> None:
    a, b = (assay.explain(assay.load(pair(), dtype=d), TEXTS[:3], "leave_one_out") for d in ("bf16", "fp32"))
    assert [e.about.cost for e in a] == [e.about.cost for e in b]


def test_texts_that_come_one_by_one_are_measured_until_there_are_enough() -> None:
    model = assay.load(pair(), dtype="bf16")
    known = [assay.explain(model, text, "gradient").facts["precision"]["texts"] for text in TEXTS]
    assert known == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]
    assert assay.explain(model, TEXT, "input_x_gradient").facts["precision"]["texts"] == 1


def test_no_text_counts_twice() -> None:
    model = assay.load(pair(), dtype="bf16")
    for given, known in (([TEXT], 1), ([TEXT, TEXT], 1), ([TEXT, TEXTS[1], TEXT], 2)):
        told = assay.explain(model, given, "gradient")
        assert [e.facts["precision"]["texts"] for e in told] == [known] * len(given)
        assert [e.strings[0] for e in told] == given


def test_texts_that_cannot_be_explained_do_not_count() -> None:
    model = assay.load(pair(), dtype="bf16")
    outcomes = list(assay.stream(model, ["", TEXT], "leave_one_out"))
    assert outcomes[0].error is not None
    assert outcomes[1].get().facts["precision"]["texts"] == 1
    none = [*[""] * SAMPLE, TEXT]
    told = list(assay.stream(model, none, "gradient"))[-1].get()
    assert told.warnings == ("bf16: not measured against fp32, since the first texts could not be explained",)


def test_a_check_says_it_too() -> None:
    (verdict,) = assay.check(assay.load(pair(), dtype="bf16"), TEXTS[:3], ["leave_one_out"], ["deletion"])
    assert any(said.startswith("bf16: on 3 of your texts") for said in verdict.warnings)


def test_other_kinds_say_what_became_of_the_probabilities() -> None:
    model = assay.load(pair(), dtype="bf16")
    rule = assay.explain(model, TEXT, "anchors", batch=10, threshold=0.5)
    assert "tau" not in rule.facts["precision"]
    assert rule.warnings[-1].startswith("bf16: on 1 of your texts no probability moved by more than 0.")


def scores(values: list[float], target: int = 0, chances: tuple[float, float] = (0.7, 0.3)) -> TokenScores:
    text = Text.of(" ".join(f"w{i}" for i in range(len(values))))
    return TokenScores(Case(text, target), np.array(values), prediction=dict(zip("ab", chances, strict=True)))


@pytest.mark.parametrize(
    ("low", "full", "tau", "first", "moved"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1.0, False, 0.0),
        ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], -1.0, True, 2 / 3),
        ([0.0, 0.0], [0.0, 0.0], 1.0, False, 0.0),
        ([0.0, 0.0], [1.0, 2.0], 0.0, True, 1.0),
        ([1.0, 2.0], [0.0, 0.0], 0.0, True, 1.0),
        ([1.0, 3.0, 2.0, 4.0], [1.0, 2.0, 3.0, -4.0], -1 / 3, True, 2.0),
    ],
)
def test_difference_by_hand(low: list[float], full: list[float], tau: float, first: bool, moved: float) -> None:
    found = difference(scores(low), scores(full, chances=(0.6, 0.4)))
    assert found.probability == pytest.approx(0.1)
    assert found[1:] == (False, pytest.approx(tau), first, pytest.approx(moved))


def test_scores_of_different_labels_are_not_compared() -> None:
    assert difference(scores([1.0, 2.0], 1, (0.4, 0.6)), scores([1.0, 2.0])) == (
        pytest.approx(0.3),
        True,
        None,
        None,
        None,
    )
    assert difference(scores([1.0, 2.0], 0, (0.4, 0.6)), scores([1.0, 2.0])).label
    assert difference(scores([1.0]), scores([1.0])) == (0.0, False, None, None, None)


def test_sentences() -> None:
    found = [Difference(0.01, False, 1.0, False, 0.1), Difference(0.02, False, 0.9, True, 0.2), Difference(0.5, True)]
    known = facts("bf16", found)
    assert known == {
        "dtype": "bf16",
        "texts": 3,
        "label_changed": 1,
        "largest_probability_change": 0.5,
        "tau": pytest.approx(0.95),
        "least_tau": 0.9,
        "first_word_changed": 1,
        "largest_score_change": 0.2,
    }
    assert sentence(known) == (
        "bf16: on 3 of your texts the order of the words agreed with fp32 by tau 0.95; the first word changed in 1; "
        "another label in 1"
    )
    assert sentence(facts("fp16", found[2:])).endswith("no probability moved by more than 0.5; another label in 1")


def test_what_cannot_be_had() -> None:
    with pytest.raises(UnknownName, match="did you mean 'bf16'"):
        assay.load(pair(), dtype="bfloat16")
    with pytest.raises(ModelNotLoaded, match="for transformers models"):
        assay.load(lambda texts: [[0.5, 0.5]] * len(texts), dtype="bf16")
    with pytest.raises(ModelNotLoaded, match="on a CPU take bf16"):
        assay.load(pair(), dtype="fp16")
    with pytest.raises(ModelNotLoaded, match="are in float64"):
        assay.load(tiny.linear_bow(double=True)[:2], dtype="bf16")


def test_float32_is_the_model_itself() -> None:
    full = assay.load(pair())
    assert assay.load(full, dtype="fp32") is full
    low = assay.load(full, dtype="bf16")
    assert isinstance(low, Lowered)
    assert not isinstance(full, Lowered)
    again = assay.load(low, dtype="fp32")
    assert type(again) is type(full)
    assert logits(again, TEXT) == pytest.approx(logits(full, TEXT), abs=0)


def test_an_answer_kept_on_disk_is_not_mistaken(tmp_path: Any) -> None:
    low, file = assay.load(pair(), dtype="bf16"), str(tmp_path / "kept")
    assert low.fingerprint() != low.reference.fingerprint()
    a, b = (Engine(model, cache=file).ask(Predict(Text.of(TEXT))).logits for model in (low.reference, low))
    assert not np.allclose(a, b, atol=1e-5)


def test_it_can_be_sent_elsewhere() -> None:
    net, tokenizer = pair()
    net(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True)  # transformers leaves hooks behind
    low = assay.load((net, tokenizer), dtype="bf16")
    again = pickle.loads(pickle.dumps(low))
    assert isinstance(again, Lowered)
    assert logits(again, TEXT) == pytest.approx(logits(low, TEXT), abs=1e-6)


def test_a_randomised_copy_is_in_half_precision_too() -> None:
    derived = assay.load(pair(), dtype="bf16").derived("randomized:head:0")
    assert isinstance(derived, Lowered)
    assert logits(derived, TEXT).shape == (1, 3)


def test_masked_language_models() -> None:
    text = Text.of(TEXT)
    question = Fill(Variants(text, each(len(text))), model="lm", k=3)
    fills = []
    for dtype in ("bf16", "fp32"):
        lm = assay.load(tiny.masked_lm("bert"), dtype=dtype)
        fills.append(Engine(assay.load(pair()), resolve=lambda name, lm=lm: lm).ask(question))
    changes = [np.abs(a.probabilities - b.probabilities).max() for a, b in zip(*fills, strict=True)]
    assert 0 < max(changes) < 0.2


def test_from_the_command_line(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "half_models.py").write_text(
        "import tiny\nnet = tiny.bert()\nbox = lambda texts: [[0.5, 0.5]] * len(texts)"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    options = ("-m", "leave_one_out", "--dtype", "bf16", "--json")
    assert cli.main(["explain", TEXT, "--model", "half_models:net", *options]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["facts"]["precision"]["dtype"] == "bf16"
    assert told["warnings"][-1].startswith("bf16: on 1 of your texts")
    assert cli.main(["check", TEXT, "--model", "half_models:net", *options, "-c", "deletion"]) == 0
    assert '"bf16: on 1 of your texts' in capsys.readouterr().out
    assert cli.main(["explain", TEXT, "--model", "half_models:box", *options]) == 2
    assert capsys.readouterr().err == (
        "assay: dtype='bf16' is for transformers models; <lambda> chooses its own numbers.\n"
    )
