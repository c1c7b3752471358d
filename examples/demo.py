"""The main job, on bundled models: explain a few sentences, check the explanations, write a page to look at.

Then two other kinds of explanation: the smallest edit that turns an answer, and a reason in words.
"""

from __future__ import annotations

from pathlib import Path

import assay
from assay.cli.output import show
from assay.views import page, terminal

SENTENCES = [
    "a gripping , funny film that never loses its nerve",
    "the acting is superb but the script is a mess and two hours feel like four",
    "not the masterpiece its trailer promises , yet strangely moving",
]
METHODS = ["leave_one_out", "integrated_gradients", "random"]
CHECKS = ["comprehensiveness", "sufficiency"]
PAGE = Path("demo.html")


def show_rationale() -> None:
    """A sentence that gives reasons, where the small language model that writes it is installed."""
    try:
        told = assay.explain("snli", ("A man poses in front of an ad.", "A man is asleep."), "cage")
    except assay.AssayError as missing:
        print(f"\nNo rationale in words: {missing}\n")
    else:
        show(terminal.explained([told]))


def main() -> None:
    model = assay.load("sst2")
    told = [e for method in METHODS for e in assay.explain(model, SENTENCES, method)]
    verdicts = assay.check(model, SENTENCES, METHODS, CHECKS)
    by_text = sorted(told, key=lambda e: SENTENCES.index(str(e.text)))
    show(terminal.explained(by_text[: len(METHODS)]))
    show(terminal.verdict_table(verdicts))
    show(terminal.explained([assay.explain(model, SENTENCES[0], "mice")]))  # the least change that turns the answer
    show_rationale()
    PAGE.write_text(page(by_text, verdicts), encoding="utf-8")
    print(f"\nThe whole page, all sentences and verdicts: {PAGE.resolve()}")


if __name__ == "__main__":
    main()
