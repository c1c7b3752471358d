"""The newcomer's walk: the first ten minutes, step by step, as installed, outside of the checkout.

python walk.py EXAMPLES OUT [--full]

Run by tests/docs/test_wheels.py in an environment of its own, and with --full by `make walk`: then every command is a
process of its own, and the review has 300 words. What each step shows is kept in OUT, to be looked at. A step
that does not show what it should ends the walk with a sentence.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENTENCE = "the acting is superb but the script is a mess"
FULL = "--full" in sys.argv
EXAMPLES, OUT = (Path(place).resolve() for place in sys.argv[1:3])
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C"}


def require(fact: bool, sentence: str) -> None:
    if not fact:
        sys.exit(f"the walk ends: {sentence}")


def installed() -> None:
    """The libraries are those that were installed, not those of a checkout."""
    import assay_zoo

    import assay
    import assay_studies

    for module in (assay, assay_zoo, assay_studies):
        place = Path(module.__file__ or "")
        require(place.is_relative_to(sys.prefix), f"{module.__name__} comes from {place}")
        require((place.parent / "py.typed").exists(), f"{module.__name__} has no py.typed")


def process(*words: str, **environment: str) -> str:
    """What the installed command prints, in a process of its own."""
    command = [str(Path(sys.executable).parent / "assay"), *words]
    done = subprocess.run(command, capture_output=True, cwd=OUT, env={**os.environ, **PLAIN, **environment})
    require(done.returncode == 0, f"assay {words} ends with {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(environment.get("PYTHONIOENCODING", "utf-8"))


def same_process(*words: str) -> str:
    """The same without starting Python anew, which takes seconds."""
    from assay.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(OUT):
        code = main(list(words))
    require(code == 0, f"assay {words} ends with {code}: {err.getvalue()}")
    return out.getvalue()


assay_command: Callable[..., str] = process if FULL else same_process


def kept(name: str, shown: str, *expected: str) -> str:
    """Keep what a step shows; it fits 80 columns, has no colours, and holds what is expected."""
    (OUT / f"{name}.txt").write_text(shown, encoding="utf-8")
    wide = [line for line in shown.splitlines() if len(line) > 80]
    require(not wide, f"{name} does not fit 80 columns: {wide[:1]}")
    require("\x1b" not in shown, f"{name} has colours in spite of NO_COLOR")
    for words in expected:
        require(words in shown, f"{name} does not say {words!r}:\n{shown}")
    return shown


def page(name: str, *expected: str) -> None:
    """A page was written, stands by itself, and holds what is expected."""
    html = (OUT / name).read_text(encoding="utf-8")
    for words in expected:
        require(words in html, f"{name} does not say {words!r}")
    for fetched in ('src="http', "url(http", '<link rel="stylesheet"'):
        require(fetched not in html, f"{name} fetches something: {fetched}")


def explain_without_a_method() -> None:
    kept("explain", process("explain", SENTENCE), "mess", "for negative")
    if FULL:
        ascii_only = process("explain", SENTENCE, PYTHONIOENCODING="ascii")
        kept("explain_ascii", ascii_only, "mess")
        assay_command("explain", SENTENCE, "--html", "explain.html")
        page("explain.html", "mess")


def explain_a_pipeline() -> None:
    """A scikit-learn pipeline that was trained a moment ago."""
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    import assay

    reviews = pd.read_csv(EXAMPLES / "reviews.csv")
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(reviews["text"], reviews["label"])
    e = assay.explain(assay.load(pipeline), "superb acting , dull script")
    scores = dict(zip(e.words, e.scores, strict=True))
    require(e.about.labels == ("negative", "positive"), f"the labels are {e.about.labels}")
    require(scores["superb"] * scores["dull"] < 0, f"superb and dull point the same way: {scores}")
    (OUT / "pipeline.html").write_text(e.to_html(), encoding="utf-8")
    page("pipeline.html", "superb")


def scores_of_shap(model: Any, texts: list[str]) -> list[Any]:
    import shap

    masker = shap.maskers.Text(r"\W+")
    return list(shap.Explainer(model.predict, masker, output_names=list(model.labels))(texts, silent=True))


def scores_of_captum(texts: list[str]) -> list[Any]:
    """Integrated gradients by captum, of the predicted label, on the same network."""
    import assay_zoo
    import torch
    from captum.attr import LayerIntegratedGradients

    network, tokenizer = assay_zoo.load("sst2")
    explainer = LayerIntegratedGradients(lambda ids: network(ids).logits, network.get_input_embeddings())
    scores = []
    for text in texts:
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        target = int(network(ids).logits.argmax())
        baseline = torch.full_like(ids, tokenizer.pad_token_id)
        scores.append(explainer.attribute(ids, baseline, target=target, n_steps=20)[0].detach())
    return scores


def check_the_scores_of_other_tools() -> None:
    import assay

    model, texts = assay.load("sst2"), [SENTENCE, "a gripping , funny film"]
    scores = {"shap": scores_of_shap(model, texts), "captum": scores_of_captum(texts)}
    verdicts = assay.check(model, texts, scores=scores, checks=["deletion"], progress=False)
    require([v.method for v in verdicts] == ["shap", "captum"], f"verdicts of {[v.method for v in verdicts]}")
    require(all(v.sentence for v in verdicts), "a verdict says nothing")
    (OUT / "other_tools.txt").write_text("\n".join(f"{v.method}: {v.sentence}" for v in verdicts), encoding="utf-8")


def trust_a_review() -> None:
    """A card in the terminal, and a page; with --full the page is that of a review of 300 words."""
    fast = ("-m", "leave_one_out,gradient", "-c", "deletion")
    kept("trust", same_process("trust", SENTENCE, *fast), "This is about the maps", "Leave-one-out")
    if FULL:
        process("trust", (EXAMPLES / "long_review.txt").read_text(encoding="utf-8").strip(), "--html", "trust.html")
    else:
        same_process("trust", SENTENCE, *fast, "--html", "trust.html")
    page("trust.html", "may you believe it")


def run_and_report() -> None:
    limit = () if FULL else ("--limit", "4")
    command = ("run", str(EXAMPLES / "reviews.csv"), "-m", "leave_one_out", "-c", "sufficiency", "--out", "reviews.run")
    kept("run", assay_command(*command, *limit, "-q"))
    kept("status", assay_command("status", "reviews.run"), "done")
    assay_command("report", "reviews.run", "--html", "report.html", "-q")
    page("report.html", "Leave-one-out")
    found = json.loads(assay_command("query", "reviews.run", "select count(*) as n from words", "--json"))
    require((found if isinstance(found, dict) else found[0])["n"] > 10, f"the run holds {found}")


STEPS = (
    installed,
    explain_without_a_method,
    explain_a_pipeline,
    check_the_scores_of_other_tools,
    trust_a_review,
    run_and_report,
)

if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    os.environ.update(PLAIN)
    for step in STEPS:
        started = time.monotonic()
        step()
        print(f"{step.__name__.replace('_', ' ')}: as expected, {time.monotonic() - started:.0f} s", flush=True)
