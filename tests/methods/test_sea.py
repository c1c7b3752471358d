"""SEA: eq. 10 by a slow loop over planted paraphrasers, its thresholds, back-translation, other models, errors."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, ModelNotLoaded
from assay.explanations.edits import Edits
from assay.explanations.rewritten import word_operations
from assay.methods.adversarial.sea import Sea
from assay.models import TextModel
from assay.questions.generation import Likelihood
from planted_writers import BagEncoder, PlantedWriter

TEXT = "a fine film about a dog and its boy , who never give up"
REWRITES = {
    TEXT: 0.3,
    TEXT.replace("film", "movie"): 0.3,  # S = 1, flips
    TEXT.replace("fine", "decent"): 0.1,  # S = 1/3
    TEXT.replace("boy", "lad"): 0.2,  # S = 2/3, does not flip
    "a fine movie": 0.28,  # S = .93, flips, but half of the text is gone
    "": 0.01,
}
REWRITES = {text: chance / sum(REWRITES.values()) for text, chance in REWRITES.items()}
SYNONYMS = {"movie": "film", "decent": "fine", "lad": "boy"}


def on_movie(texts: list[Any]) -> np.ndarray:
    """Positive unless somebody says "movie"."""
    said = np.array(["movie" in (text if isinstance(text, str) else text[1]).split() for text in texts])
    return np.where(said[:, None], [0.8, 0.2], [0.1, 0.9])


@cache
def model() -> TextModel:
    return assay.BlackBox(on_movie, labels=["bad", "good"], name="on movie")


def engine(writers: Any) -> Engine:
    encoder = BagEncoder(SYNONYMS)
    return Engine(model(), resolve=lambda name: encoder if name == "mlm" else writers(name))


def made(text: Any = TEXT, table: Any = lambda x: REWRITES, **settings: Any) -> Edits:
    here = engine(lambda name: PlantedWriter(table))
    return assay.explain(model(), text, "sea", engine=here, progress=False, **settings)  # type: ignore[no-any-return]


def test_equation_10_by_a_slow_loop() -> None:
    for threshold, similar in ((0.8, 0.94), (0.1, 0.94), (0.8, -1.0), (0.001, -1.0)):
        e = made(threshold=threshold, similar=similar, samples=400, versions=50, judged=50)
        wanted = []
        for text, chance in REWRITES.items():
            s = min(1.0, chance / REWRITES[TEXT])
            one, two = BagEncoder(SYNONYMS).vector(TEXT.split()), BagEncoder(SYNONYMS).vector(text.split())
            cosine = one @ two / max(1e-9, np.linalg.norm(one) * np.linalg.norm(two))
            if text and text != TEXT and s >= threshold and cosine >= similar and "movie" in text:
                wanted.append((-s, -cosine, text))
        assert [edit.text for edit in e.edits] == [text for *_, text in sorted(wanted)]
        assert [edit.scores["S"] for edit in e.edits] == pytest.approx([-s for s, *_ in sorted(wanted)])
    assert e.facts["paraphrases"]["written"] == 4


def test_a_dropped_clause_is_seen_by_the_encoder_alone() -> None:
    assert [edit.text for edit in made(samples=400).edits] == [TEXT.replace("film", "movie")]
    loose = made(samples=400, similar=-1.0)
    assert [edit.text for edit in loose.edits] == [TEXT.replace("film", "movie"), "a fine movie"]
    assert loose.edits[1].scores["similarity"] < 0.8


def test_what_does_not_flip_is_the_nearest_attempt() -> None:
    e = made(table=lambda x: {x: 0.5, x.replace("boy", "lad"): 0.5})
    assert not e.edits
    assert e.nearest is not None
    assert e.nearest.text == TEXT.replace("boy", "lad")
    assert not e.nearest.flips
    assert any("no version was found" in warning for warning in e.warnings)
    none = made(table=lambda x: {x: 1.0})
    assert none.nearest is not None
    assert none.nearest.operations == ()
    assert any("nothing but the text itself" in warning for warning in none.warnings)
    far = made(table=lambda x: {x: 0.9, "a fine movie": 0.1}, samples=100)
    assert any("means the same: S >=" in warning for warning in far.warnings)


def test_the_wanted_label_and_the_field_of_a_pair() -> None:
    pair = ("a movie", TEXT)
    e = made(pair)
    assert e.edits[0].strings == ("a movie", TEXT.replace("film", "movie"))
    assert e.edits[0].edited == 1
    assert made(pair, against="bad").edits
    with pytest.raises(BadInput, match="field"):
        made(pair, field="nothing")


def test_the_seed_decides_and_the_company_does_not() -> None:
    table = {f"{TEXT} {i}": 1 / 60 for i in range(59)} | {TEXT: 1 / 60}
    here = engine(lambda name: PlantedWriter(lambda x: table if x == TEXT else {x: 1.0}))
    settings = {"similar": -1.0, "threshold": 0.0, "progress": False, "samples": 8}
    alone = assay.explain(model(), TEXT, "sea", engine=here, **settings)
    beside = assay.explain(model(), ["another one", TEXT], "sea", engine=here, **settings)[1]
    assert alone.nearest is not None
    assert alone.nearest.text == beside.nearest.text
    assert alone.facts["paraphrases"]["written"] > 4
    other = [assay.explain(model(), TEXT, "sea", engine=here, seed=s, **settings).facts for s in range(4)]
    assert len({str(facts["paraphrases"]) for facts in other}) > 1 or other[0] != alone.facts


def test_back_translation_sums_over_pivots() -> None:
    """q(x'|x) = sum over pivots of the share of the pivot among those drawn, times the likelihood back."""
    movie = TEXT.replace("film", "movie")
    there = {"un": 0.6, "deux": 0.4}
    back = {"un": {TEXT: 0.5, movie: 0.5}, "deux": {TEXT: 0.8, movie: 0.2}}
    asked: list[str] = []

    def writers(name: str) -> TextModel:
        asked.append(name)
        return PlantedWriter(lambda x: there if name == "en-fr" else back[x], gap="")

    e = assay.explain(
        model(), TEXT, "sea", there="en-fr", back="fr-en", engine=engine(writers), threshold=0.1, samples=64,
        pivots=20, progress=False,
    )  # fmt: skip
    q = {text: sum(there[z] * back[z][text] for z in there) for text in (TEXT, movie)}
    assert e.edits[0].text == movie
    assert e.edits[0].scores["S"] == pytest.approx(q[movie] / q[TEXT])
    assert set(asked) == {"en-fr", "fr-en"}
    with pytest.raises(BadInput, match="takes two models"):
        Sea(there="en-fr")


@pytest.mark.parametrize("pair", [tiny.causal_lm("llama"), tiny.seq2seq("t5"), tiny.seq2seq("bart")])
def test_any_language_model_by_name(pair: Any) -> None:
    writer = assay.load(pair)
    here = engine(lambda name: writer)
    e = assay.explain(
        model(), "a film", "sea", model="my/model", prompt="say {text}", engine=here, max_tokens=12, samples=64,
        temperatures=(1.5,), top_p=1.0, threshold=0.0, similar=-1.0, progress=False,
    )  # fmt: skip
    assert e.about.parameters["model"] == "my/model"
    assert e.facts["paraphrases"]["written"] > 0
    assert e.nearest is not None
    gap = " " if writer.fields[0] == "prompt" else ""
    texts = [f"{gap}{e.nearest.text}", f"{gap}a film"]
    new, old = Engine(writer).ask(Likelihood("say a film", *texts, ended=True))
    assert e.nearest.scores["S"] == pytest.approx(min(1.0, float(np.exp(new.total - old.total))), rel=1e-3)


def test_the_likelihood_of_a_text_that_ends() -> None:
    """The end is one more token; so a beginning is no longer likelier than the whole."""
    for pair in (tiny.causal_lm("llama"), tiny.seq2seq("t5")):
        writer = assay.load(pair)
        (plain,) = Engine(writer).ask(Likelihood("say a film", " a film"))
        (ended,) = Engine(writer).ask(Likelihood("say a film", " a film", ended=True))
        assert ended.log_probs[:-1] == pytest.approx(plain.log_probs, rel=1e-5)
        assert ended.tokens == (*plain.tokens, "</s>")
        assert ended.total < plain.total


def test_operations_make_the_new_words_of_the_old_ones() -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        old, new = (tuple(generator.choice(list("abcd"), generator.integers(1, 7)).tolist()) for _ in range(2))
        words: list[list[str]] = [[word] for word in old]
        before: list[list[str]] = [[] for _ in old]
        for kind, at, *rest in word_operations(old, new):
            if kind == "replace":
                assert old[at] == rest[0]
                words[at] = [rest[1]]
            elif kind == "remove":
                assert old[at] == rest[0]
                words[at] = []
            else:
                before[at].append(rest[0])
        made_of = sorted(word for i in range(len(old)) for word in [*before[i], *words[i]])
        assert made_of == sorted(new)


def test_a_missing_paraphraser_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    zoo = pytest.importorskip("assay_zoo.cards")
    monkeypatch.setattr(zoo, "WEIGHTS", tmp_path)
    with pytest.raises(ModelNotLoaded, match="no bundled writer is called 'writer:paraphraser': choose one of writer"):
        assay.explain(model(), TEXT, "sea", progress=False)


@pytest.mark.parametrize(
    "settings",
    [{"samples": 0}, {"threshold": 2}, {"similar": -3}, {"versions": 0}, {"temperatures": (0.0,)}, {"top_p": 0},
     {"temperatures": ()}, {"prompt": "no hole"}, {"back": "x"}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Sea(**settings)


def test_a_model_that_answers_freely_is_refused() -> None:
    with pytest.raises(BadInput, match="answers freely"):
        assay.explain(tiny.causal_lm("gpt2"), "The film", "sea")


def test_there_and_back_and_shown() -> None:
    from io import StringIO

    from rich.console import Console

    from assay.views.terminal import explained

    e = made()
    back = assay.Explanation.from_json(e.to_json())
    assert back.to_dict() == e.to_dict()
    stream = StringIO()
    Console(file=stream, width=80, color_system=None).print(explained([e]))
    assert "[-film-]{+movie+}" in stream.getvalue()
    assert "S 1.00, similarity 1.00" in " ".join(stream.getvalue().split())
