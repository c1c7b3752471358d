"""The package as a stranger gets it: built, installed into an empty directory, and used there without any network."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ZOO = Path(__file__).parents[1]
NAMES = ["sst2", "snli", "ag_news", "squad", "mlm", "tagger"]
BRIDGE = "The bridge was built in Lisbon by Anna Silva and opened in 1966."
GUITAR = "A man is playing a guitar on a stage."

# Runs in the new process. The audit hook sees what any library does, whatever it imported and whatever it catches.
PROGRAM = """
import functools, json, sys

touched = []

def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        touched.append(f"{event} {args[1:]!r}")
        raise OSError("the network was touched")

sys.addaudithook(watch)
where, source = sys.argv[1:]
sys.path[:] = [where, *(path for path in sys.path if path != source)]

import torch
import assay_zoo

torch.set_num_threads(1)
load = functools.cache(assay_zoo.load)

def run(name, *texts):
    model, tokenizer = load(name)
    inputs = tokenizer(*texts, return_tensors="pt")
    with torch.inference_mode():
        return model(**inputs), inputs["input_ids"][0], tokenizer

def classify(name, *texts):
    chances = run(name, *texts)[0].logits.softmax(-1)[0].tolist()
    return dict(zip(assay_zoo.card(name).labels, chances))

def answer(question, context):
    out, ids, tokenizer = run("squad", question, context)
    begin, end = int(out.start_logits.argmax()), int(out.end_logits.argmax())
    chance = out.start_logits.softmax(-1)[0, begin] * out.end_logits.softmax(-1)[0, end]
    return tokenizer.decode(ids[begin : end + 1]), float(chance)

def fills(text):
    out, ids, tokenizer = run("mlm", text)
    place = ids.tolist().index(tokenizer.mask_token_id)
    top = out.logits[0, place].softmax(-1).topk(2)
    return dict(zip(tokenizer.convert_ids_to_tokens(top.indices.tolist()), top.values.tolist()))

asked = json.load(sys.stdin)
said = {
    "file": assay_zoo.__file__,
    "names": assay_zoo.names(),
    "classify": [classify(*one) for one in asked["classify"]],
    "answer": [answer(*one) for one in asked["answer"]],
    "fills": [fills(one) for one in asked["fills"]],
    "touched": touched,
}
print(json.dumps(said))
"""

CLASSIFY: list[tuple[list[str], dict[str, float]]] = [
    (["sst2", "it is not good at all"], {"negative": 0.99702, "positive": 0.00298}),
    (["sst2", "the acting is fine , the story less so"], {"negative": 0.02115, "positive": 0.97885}),
    (
        ["snli", GUITAR, "A man is making music."],
        {"entailment": 0.97007, "neutral": 0.02546, "contradiction": 0.00446},
    ),
    (
        ["snli", GUITAR, "A man is asleep in his bed."],
        {"entailment": 0.00227, "neutral": 0.00478, "contradiction": 0.99294},
    ),
    (
        ["ag_news", "Shares fell after the bank cut its profit forecast for the year."],
        {"World": 0.02607, "Sports": 0.00093, "Business": 0.97106, "Sci/Tech": 0.00194},
    ),
]
ANSWERS = [
    (["Who designed the bridge?", BRIDGE], "anna silva", 0.99159),
    (["When did it open?", BRIDGE], "1966", 0.94927),
]
FILLS = [
    ("hot [MASK] balloons", {"air": 0.27161, "balloon": 0.16673}),
    ("a man is playing the [MASK] on stage.", {"guitar": 0.19947, "piano": 0.09861}),
]


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", *map(str, arguments), "--quiet", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def installed(place: Path) -> Path:
    """The directory into which the built package was installed, and nothing else."""
    # The build tool is used where it is installed; else pip fetches it, as it does for a stranger.
    pip("wheel", *(["--no-build-isolation"] if find_spec("hatchling") else []), "--wheel-dir", place / "wheel", ZOO)
    (wheel,) = (place / "wheel").iterdir()
    pip("install", "--no-index", "--target", place / "installed", wheel)
    return place / "installed"


def said(where: Path, home: Path) -> dict[str, Any]:
    """What the installed package answers, in a process that knows no other copy of it and no cache of models."""
    asked = {
        "classify": [texts for texts, _ in CLASSIFY],
        "answer": [texts for texts, *_ in ANSWERS],
        "fills": [text for text, _ in FILLS],
    }
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON", "TRANSFORMERS"))}
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(where), str(ZOO / "src")],
        input=json.dumps(asked),
        cwd=home,
        env={**bare, "HOME": str(home), "HF_HOME": str(home / "models")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.slow
def test_the_installed_package_knows_its_predictions(tmp_path: Path) -> None:
    where = installed(tmp_path)
    answers = said(where, tmp_path)
    assert Path(answers["file"]).is_relative_to(where)
    assert answers["names"] == NAMES
    assert answers["touched"] == []
    for (texts, chances), found in zip(CLASSIFY, answers["classify"], strict=True):
        assert found == pytest.approx(chances, abs=1e-3), texts
    for (texts, answer, chance), found in zip(ANSWERS, answers["answer"], strict=True):
        assert found == [answer, pytest.approx(chance, abs=1e-3)], texts
    for (text, words), found in zip(FILLS, answers["fills"], strict=True):
        assert found == pytest.approx(words, abs=1e-3), text
