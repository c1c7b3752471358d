"""The page of concepts: what the survey says of mediation, and what we see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.whole_model.concepts import NO_EFFECT, TOTAL
from assay_studies.whole_model.pages import numbers, row_page

_SENTENCES = (
    Sentence(
        key="few_heads",
        short="Mediation finds the attention heads that are most responsible for gender bias",
        quote="By doing this, Vig et al. can identify which attention heads are most responsible for the gender bias, "
        "when considering the occupation concept.",
        place="section 11.1",
        reading="Our limit: half of the total effect is carried by fewer than a tenth of the heads, by the effects of "
        "single heads. The survey adds that nobody measured whether such an explanation is right; the question below "
        "does, with heads asked together.",
        main="share of heads that add up to half",
    ),
    Sentence(
        key="together",
        short="The three strongest heads together carry more than three random ones",
        reading="The share of the total effect that three heads carry together. Heads stand in for each other: a share "
        "above 1 says that more goes through them than the change of the text does as a whole, and that direct and "
        "indirect effects of such heads do not add up (in the mean over all heads they nearly do: most carry nothing).",
    ),
)


def _seen(kept: Kept) -> Iterator[str]:
    totals = dict(numbers(kept, "few_heads", TOTAL, 2))
    for about, share in numbers(kept, "few_heads", "share of heads that add up to half"):
        table = next((one for one in kept.tables.values() if one.title == f"{about}: {_HEADS}"), None)
        strongest = f"; {table.lines[0].label.partition('. ')[2]} is the strongest" if table else ""
        carried = f"and {share} of the heads are enough for half{strongest}"
        if about in _without_effect(kept):
            carried = "which does not differ from 0, so there is nothing to mediate"
        yield f"{about}: the change moves the log-odds by {totals[about]}, {carried}."


def _without_effect(kept: Kept) -> set[str]:
    found = kept.claims.get("few_heads", ())
    return {one.about for one in found if one.name == TOTAL and one.estimate is not None and not one.estimate.sign}


def _aside(kept: Kept) -> Kept:
    """What is said of parts of an effect decides nothing where there is none."""
    none = _without_effect(kept)
    claims = {
        key: tuple(replace(one, aside=NO_EFFECT) if one.about in none and one.rule else one for one in compared)
        for key, compared in kept.claims.items()
    }
    return replace(kept, claims=claims)


_TABLES = ("mediation", "heads")
_HEADS = "the strongest heads, each by itself"
PAGE = row_page(
    "concepts",
    "Concepts: through which heads a stereotype acts",
    "section 11",
    quotes=(
        (
            "This latent representation can either be a single neuron or several neurons, like an attention head. The "
            "Natural Indirect Effect measures the effect that goes though this mediator.",
            "section 11.1",
        ),
        (
            "Vig et al. do not measure either functionally-groundedness or human-groundedness on Natural Indirect "
            "Effect. It is also not obvious how functionally-groundedness could be measured.",
            "section 11.2",
        ),
    ),
    seen=_seen,
    derived=_aside,
    time="Professions take some 6 seconds of one CPU core a pair, the sentences of WinoBias and Winogender some 40, as "
    "all that follows the pronoun is read for either word; on one NVIDIA H200 all of it takes a minute and a half.",
    needs="`DIR` holds `vig_causal_mediation/`; the writer's base is installed ([more](../writer.md)). What is missing "
    "is left out, and the report says so.",
    meaning="A head that goes with a concept is found by changing it, not by looking at its attention; and heads stand "
    "in for each other, so ask for several together (`mediation_sum`) before you say that one of them is responsible. "
    "[How to ask your own model](../mediation.md).",
    sentences=_SENTENCES,
    differs=(
        "The model is SmolLM2-135M in the place of a small GPT-2.",
        "Effects are differences of log-odds, whose means are not ruled by the few largest ratios; the survey's eq. 19 "
        "to 21 are ratios (`scale=ratio`). Mediators are what heads add up, at all places.",
        "Of WinoBias and Winogender only pairs with “he” or “she” are taken whose sentences share all that is before "
        "the pronoun, as in the released code; of WinoBias the dev and the test file.",
    ),
    drawn=("heads_professions", "heads_winobias", "heads_winogender"),
    tables=tuple(f"{table}_{name}" for name in ("professions", "winobias", "winogender") for table in _TABLES),
)
