"""The zoo as a user meets it: names, cards, known predictions, integrity, no network."""

import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import assay_zoo
from assay_zoo import cards, extras

torch.set_num_threads(1)
NAMES = ["sst2", "snli", "ag_news", "squad", "mlm", "tagger"]
LIMIT = 60_000_000
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any socket is an error."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private copy of the weights that a test may damage."""
    where = tmp_path / "weights"
    shutil.copytree(cards.WEIGHTS, where)
    monkeypatch.setattr(cards, "WEIGHTS", where)
    return where


def classify(name: str, *texts: str) -> tuple[str, float]:
    """The label of one text or pair and its probability."""
    model, tokenizer = assay_zoo.load(name)
    with torch.inference_mode():
        p = model(**tokenizer(*texts, return_tensors="pt")).logits.softmax(-1)[0]
    return str(assay_zoo.card(name).labels[int(p.argmax())]), float(p.max())


def test_names() -> None:
    assert assay_zoo.names() == NAMES


def test_reading_cards_imports_nothing_heavy() -> None:
    reading = "import sys, assay_zoo; [assay_zoo.card(name) for name in assay_zoo.names()]"
    code = f"{reading}; print('torch' in sys.modules, 'transformers' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", NAMES)
def test_card(name: str) -> None:
    card = assay_zoo.card(name)
    assert card.name == name
    assert card.metrics
    assert all(digest in card.text and file in card.text for file, digest in card.files.items())
    assert "small demonstration model" in card.text
    assert card.bytes == sum((cards.WEIGHTS / file).stat().st_size for file in card.files)


@pytest.mark.parametrize("name", NAMES)
def test_the_run_and_the_cpu_agree(name: str) -> None:
    facts = json.loads((cards.WEIGHTS / f"{name}.json").read_text())
    for part, one in facts["metrics"].items():
        key = "accuracy" if "accuracy" in one else "mean"
        assert abs(one[key] - facts["cpu"][part][key]) <= 0.002, part


def test_package_is_small_and_pages_say_how_large() -> None:
    size = sum(path.stat().st_size for path in cards.WEIGHTS.iterdir())
    assert size < LIMIT
    for page, before in (("README.md", "paraphrases; "), ("docs/install.md", "for a writer (")):
        assert f"{before}{size / 1e6:.0f} MB" in (REPOSITORY / page).read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", NAMES)
def test_loading(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.perf_counter()
    model, tokenizer = assay_zoo.load(name)
    seconds = time.perf_counter() - began
    assert capsys.readouterr() == ("", "")
    with capsys.disabled():
        print(f" {name} {seconds:.2f}s", end="")
    assert not model.training
    assert {tensor.dtype for tensor in model.parameters()} == {torch.float32}
    assert {tensor.device.type for tensor in [*model.parameters(), *model.buffers()]} == {"cpu"}
    assert tokenizer.is_fast
    assert tokenizer.model_max_length == 512
    labels = assay_zoo.card(name).labels
    assert not labels or model.config.id2label == dict(enumerate(labels))


def test_labels_are_real_names() -> None:
    assert assay_zoo.card("sst2").labels == ("negative", "positive")
    assert assay_zoo.card("snli").labels == ("entailment", "neutral", "contradiction")
    assert assay_zoo.card("ag_news").labels == ("World", "Sports", "Business", "Sci/Tech")


@pytest.mark.parametrize("word", ["eager", "sdpa"])
def test_attention_can_be_chosen(word: str) -> None:
    model, tokenizer = assay_zoo.load("sst2", attn_implementation=word)
    out = model(**tokenizer("a fine film", return_tensors="pt"), output_attentions=word == "eager")
    assert model.config._attn_implementation == word
    assert word == "sdpa" or len(out.attentions) == 6


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("the year 's best and most unpredictable comedy", "positive"),
        ("a warm, funny and moving film", "positive"),
        ("dull, lifeless and far too long", "negative"),
        ("it is not good at all", "negative"),
    ],
)
def test_sst2_predicts(text: str, label: str) -> None:
    assert classify("sst2", text)[0] == label


@pytest.mark.parametrize(
    ("hypothesis", "label"),
    [
        ("A man is making music.", "entailment"),
        ("A man is asleep in his bed.", "contradiction"),
        ("A man is playing for his friends.", "neutral"),
    ],
)
def test_snli_predicts(hypothesis: str, label: str) -> None:
    assert classify("snli", "A man is playing a guitar on a stage.", hypothesis)[0] == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The striker scored twice as the home side won the cup final.", "Sports"),
        ("Shares fell after the bank cut its profit forecast for the year.", "Business"),
        ("Scientists release new software to search the surface of Mars.", "Sci/Tech"),
        ("The president met rebel leaders to end the fighting near the border.", "World"),
    ],
)
def test_ag_news_predicts(text: str, label: str) -> None:
    assert classify("ag_news", text)[0] == label


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where was the bridge built?", "lisbon"),
        ("Who designed the bridge?", "anna silva"),
        ("When did it open?", "1966"),
    ],
)
def test_squad_answers(question: str, answer: str) -> None:
    model, tokenizer = assay_zoo.load("squad")
    inputs = tokenizer(
        question, "The bridge was built in Lisbon by Anna Silva and opened in 1966.", return_tensors="pt"
    )
    with torch.inference_mode():
        out = model(**inputs)
    begin, end = int(out.start_logits.argmax()), int(out.end_logits.argmax())
    assert tokenizer.decode(inputs["input_ids"][0, begin : end + 1]) == answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the film was absolutely [MASK].", {"terrible", "brilliant", "awful", "horrible", "wonderful"}),
        ("hot [MASK] balloons", {"air"}),
        ("a man is playing the [MASK] on stage.", {"guitar", "piano"}),
    ],
)
def test_mlm_fills(text: str, words: set[str]) -> None:
    model, tokenizer = assay_zoo.load("mlm")
    inputs = tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        best = model(**inputs).logits[0, place].topk(5).indices
    assert words & set(tokenizer.convert_ids_to_tokens(best.tolist()))


def test_a_bare_phrase_is_filled_with_a_word_that_fits() -> None:
    """Without its adapter the model repeats the word beside the hole."""
    model, tokenizer = assay_zoo.load("mlm")
    with torch.inference_mode():
        best = model(**tokenizer("hot [MASK] balloons", return_tensors="pt")).logits[0, 2].argmax()
    assert tokenizer.convert_ids_to_tokens(int(best)) == "air"


def test_unknown_name() -> None:
    with pytest.raises(assay_zoo.ZooError, match="did you mean 'sst2'"):
        assay_zoo.load("sst-2")


@pytest.mark.parametrize("file", ["encoder.safetensors", "sst2.safetensors", "tokenizer.json", "config.json"])
def test_damaged_file(copy: Path, file: str) -> None:
    whole = bytearray((copy / file).read_bytes())
    whole[len(whole) // 2] ^= 1
    (copy / file).write_bytes(whole)
    with pytest.raises(assay_zoo.ZooError, match=rf"{file} is damaged.*pip install --force-reinstall ./zoo"):
        assay_zoo.load("sst2")


@pytest.mark.parametrize("file", ["encoder.safetensors", "sst2.safetensors", "sst2.json", "sst2.md"])
def test_missing_file(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(assay_zoo.ZooError, match=r"missing.*pip install --force-reinstall ./zoo"):
        assay_zoo.load("sst2")


@pytest.mark.parametrize("verb", ["glove", "movie_reviews", "smollm2"])
def test_missing_extra_names_the_command(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(assay_zoo.ZooError, match="pip install"):
        getattr(assay_zoo, verb)()


def test_changed_extra_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "movie_reviews"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "combined_movie_reviews.csv").write_text("text,label,source\nnice,1,imdb\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(assay_zoo.ZooError, match="not the file we know"):
        assay_zoo.movie_reviews()


@pytest.mark.parametrize(
    ("sentence", "tags"),
    [
        ("She quickly reads two old books .", "PRON ADV VERB NUM ADJ NOUN PUNCT"),
        (
            "The dogs can not swim in London and he knows it .",
            "DET NOUN AUX PART VERB ADP PROPN CCONJ PRON VERB PRON PUNCT",
        ),
    ],
)
def test_tagger(sentence: str, tags: str) -> None:
    model, tokenizer = assay_zoo.load("tagger")
    coded = tokenizer(sentence.split(), is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        said = model(**coded).logits[0].argmax(-1).tolist()
    firsts = [coded.word_ids().index(i) for i in range(len(sentence.split()))]
    assert [model.config.id2label[said[p]] for p in firsts] == tags.split()
