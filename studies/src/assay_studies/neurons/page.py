"""The page of neurons: what the survey says of their formulas, and what we see."""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.whole_model.pages import BUNDLED, numbers, row_page

_SENTENCES = (
    Sentence(
        key="means",
        short="Where its formula holds, a neuron is on",
        quote="If these rules are satisfied it means the neuron activation is above a defined threshold.",
        place="section 15.2, on Mu and Andreas",
        reading="Our limit: in nine of ten texts where the longest formula holds, among those that the search did not "
        "see. A formula is chosen for its IoU, which asks as much for the texts that it misses.",
    ),
    Sentence(
        key="ablation",
        short="A neuron matters more to the answer where its formula holds than elsewhere",
        reading="Section 15.2 finds it “unclear how much the selected neuron affects the output” in Mu and Andreas. We "
        "set the neuron to zero in texts where the formula holds and in others; as many texts drawn at random stand "
        "beside them. How much one neuron matters where its formula holds is the second line.",
        main="effect where it holds - elsewhere, log-odds",
        digits=5,
    ),
    Sentence(
        key="longer", short="Longer formulas say better where a neuron is on, on texts that the search did not see"
    ),
)


def _seen(kept: Kept) -> Iterator[str]:
    for _, gain in numbers(kept, "longer", "IoU, longest - single feature"):
        yield f"On texts that the search did not see, the longest formulas gain {gain} of IoU over a single feature."
    for _, there in numbers(kept, "ablation", "effect where it holds", 5):
        yield f"To set a neuron to zero where its formula holds moves the answer by {there} of log-odds."


PAGE = row_page(
    "neurons",
    "Neurons: formulas, and whether the neurons matter",
    "section 15.2",
    quotes=(
        (
            "Unfortunately, Mu and Andreas do not perform any groundedness validation of this approach. "
            "Furthermore, as the method only looks at the relation between the input and the neuron, it is "
            "unclear how much the selected neuron affects the output.",
            "section 15.2",
        ),
    ),
    seen=_seen,
    time="On one core it takes about a minute.",
    needs="`DIR` holds `esnli_dev_test_nile/` and `ud_english_ewt/`. What is missing is left out, and the report "
    "says so.",
    meaning="A formula that fits a neuron says when it is on, not that it matters: take the neuron away before "
    "you build on it. [How to ask your own model](../neurons.md).",
    sentences=_SENTENCES,
    differs=(
        f"{BUNDLED}, and the neurons those of the last feed-forward part; Mu and Andreas have a BiLSTM.",
        "Formulas are judged on texts that the search did not see, too.",
    ),
    tables=("iou", "formulas"),
)
