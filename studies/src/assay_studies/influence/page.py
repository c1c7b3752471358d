"""The page of the study: what the papers say of influential examples, and what it means."""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.influence.tasks import KINDS
from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.page import Page

_SHARED, _LESS = "share with full overlap, more than of all pairs", "log-odds, more than random"
_SENTENCES = (
    Sentence(
        key="influence_finds",
        short="Influence functions find changed labels sooner than a random order",
        quote="wrongly labeled observations should affect the loss more than correctly labeled observations, hence "
        "influence functions will tend to find wrongly labeled observations",
        place="section 8.1, of Koh and Liang",
        reading="Sorted by self-influence: the share found in the first fifth, less that of a random order.",
        main="found, more than random",
        digits=2,
    ),
    Sentence(
        key="tracin_finds",
        short="TracIn finds changed labels sooner than a random order",
        quote="Pruthi et al. [90] repeat the label-correction experiment",
        place="section 8.3",
        reading="Over all checkpoints but the last; of the bag of words, which has none, at its optimum.",
        main="found, more than random",
        digits=2,
    ),
    Sentence(
        key="tracin_better",
        short="TracIn finds more changed labels than influence functions",
        quote="find that their method can better select mislabeled observations",
        place="section 8.3, of Pruthi et al., on CIFAR-10 and MNIST",
        main="found, more than influence functions",
        digits=2,
    ),
    Sentence(
        key="influence_beats_loss",
        short="Influence functions find changed labels sooner than the loss alone",
        main="found, more than by the loss",
        digits=2,
    ),
    Sentence(
        key="tracin_beats_loss",
        short="TracIn finds changed labels sooner than the loss alone",
        main="found, more than by the loss",
        digits=2,
    ),
    Sentence(
        key="influence_forgets",
        short="Without the texts that influence functions find, a model uses a planted cue less",
        quote="For example, for discovering dataset artifacts as some of the influential examples may have nothing to "
        "do with the input example, except for the artifacts.",
        place="section 8; the experiment of Han et al. and Guo et al.",
        reading="A planted token that says a label; a tenth of the texts removed; less the fall after random removals.",
        main="log-odds, more than random",
        digits=2,
    ),
    Sentence(
        key="tracin_forgets",
        short="Without the texts that TracIn finds, a model uses a planted cue less",
        main="log-odds, more than random",
        digits=2,
    ),
    Sentence(
        key="influence_overlap",
        short="The pairs that influence functions find share the overlap of words that the model follows",
        reading="Pairs of HANS in which all words of the hypothesis stand in the premise and it follows are a tenth of "
        "the training pairs. The tenth with the highest scores, for pairs of HANS in which overlap misleads.",
        main="share with full overlap, more than of all pairs",
        digits=2,
    ),
    Sentence(key="tracin_overlap", short="The pairs that TracIn finds share the overlap of words", digits=2),
    Sentence(
        key="influence_unlearns",
        short="Without the pairs that influence functions find, a model follows the overlap of words less",
        reading="One model after the removal by the method, eight after random ones; how far another training alone "
        "would move the number is not in the interval.",
        main="log-odds, more than random",
        digits=2,
    ),
    Sentence(
        key="tracin_unlearns",
        short="Without the pairs that TracIn finds, a model follows the overlap of words less",
        reading="One model after the removal by the method, eight after random ones; how far another training alone "
        "would move the number is not in the interval.",
        main="log-odds, more than random",
        digits=2,
    ),
    *(
        Sentence(
            key=f"relative_{key}_{what}",
            short=f"{short} {by}",
            reading="The scores of a pair divided by what it can do, its own self-influence or the length of its "
            "gradient: Barshan et al. (2020), Hammoudeh and Lowd (2022).",
            main=main,
            digits=2,
        )
        for key, by in (("influence", "influence functions"), ("tracin", "TracIn"))
        for what, short, main in (
            ("overlap", "The pairs share the overlap of words that are found by relative", _SHARED),
            ("unlearns", "A model follows the overlap of words less without the pairs found by relative", _LESS),
        )
    ),
    Sentence(
        key="influence_exact",
        short="Influence functions say what leaving a text out does",
        quote="The central idea in influence functions, is to estimate the effect on the loss L, of removing the "
        "observation from the dataset.",
        place="section 8.1",
        reading="Our limit: a rank correlation above 0.9 with training without the text.",
        digits=2,
    ),
    Sentence(
        key="tracin_exact",
        short="TracIn says what leaving a text out does",
        reading="At the optimum it is the influence function without the curvature of the loss: see `influence.md`.",
        digits=2,
    ),
    Sentence(
        key="representer_exact",
        short="Representer points say what leaving a text out does",
        reading="With the labels as targets and the decay of the training they are TracIn at the optimum.",
        digits=2,
    ),
    Sentence(key="trak_exact", short="TRAK says what leaving a text out does", digits=2),
    Sentence(
        key="influence_foretells",
        short="Influence functions foretell models of random halves",
        digits=2,
    ),
    Sentence(key="tracin_foretells", short="TracIn foretells models of random halves", digits=2),
    Sentence(key="representer_foretells", short="Representer points foretell models of random halves", digits=2),
    Sentence(
        key="trak_foretells",
        short="TRAK foretells models of random halves",
        digits=2,
    ),
    Sentence(key="influence_beats_tracin", short="Influence functions foretell more than TracIn", digits=2),
    Sentence(
        key="four_fifths",
        short="A fifth of the texts holds four fifths of the changed labels",
        reading="The limit is ours. Beside it what the loss of models finds that were trained without the row: a model "
        "that does not know the task does not know wrong labels either.",
        main="found",
        digits=2,
    ),
)


_OF = {
    "flipped": tuple(KINDS),
    "removal": ("bag", "encoder"),
    "overlap": ("encoder",),
    "datamodeling": ("bag",),
}


def _of_run(kept: Kept) -> Iterator[str]:
    """What no run that the page is of has measured, by the columns of its tables."""
    for name, kinds in _OF.items():
        there = kept.tables[name].columns if name in kept.tables else ()
        titles = [KINDS[kind].title.partition(",")[0] for kind in kinds]
        if missing := [title for title in titles if not any(column.startswith(title) for column in there)]:
            yield f"Not measured of {' and '.join(missing)}: {_ASKED[name]}."


_ASKED = {
    "flipped": "changed labels",
    "removal": "a planted cue",
    "overlap": "the overlap of words as a cue",
    "datamodeling": "models of random halves",
}


PAGE = Page(
    title="Influential examples",
    paper="Madsen, Reddy and Chandar (2022), *Post-hoc Interpretability for Neural NLP: A Survey*, "
    "[arXiv:2108.04840](https://arxiv.org/abs/2108.04840), section 8, on Koh and Liang (2017), "
    "[arXiv:1703.04730](https://arxiv.org/abs/1703.04730), Yeh et al. (2018), "
    "[arXiv:1811.09720](https://arxiv.org/abs/1811.09720), Pruthi et al. (2020), "
    "[arXiv:2002.08484](https://arxiv.org/abs/2002.08484), Han et al. (2020), "
    "[arXiv:2005.06676](https://arxiv.org/abs/2005.06676), and Guo et al. (2021), "
    "[arXiv:2012.15781](https://arxiv.org/abs/2012.15781).",
    run=(
        "assay study influence --data DIR --out influence --device cuda",
        "assay study influence --data DIR --out influence --size encoder=0     # on a CPU",
        "assay study influence --data DIR --quick",
        "assay study influence --page influence     # this page",
    ),
    time="The foot of the page says how long its run took, and on what.",
    needs="`DIR` holds `sst2/train.tsv` and `sst2/dev.tsv`; for the encoder `hans/hans_regenerated_train.tsv.xz`, "
    "`hans/hans_regenerated_eval.tsv.xz` and `snli_train_subset/snli.tsv.xz` too.",
    meaning="To find wrong labels, begin with the loss: it costs nothing, self-influence found no more than it here, "
    "and both are bounded by how well the model knows the task. To learn what training without a text would do, use "
    "influence functions with the damping of the training: TracIn and representer points leave the curvature of the "
    "loss out. To see what a fine-tuned encoder follows, ask for relative scores (`relative=true`): of the pairs that "
    "plain scores list hardly any share the overlap of words, of those of relative scores nearly all, and without them "
    "the model follows it far less.",
    sentences=_SENTENCES,
    differs=(
        "The papers' data are images and other texts, shown as figures; here all is SST-2, phrases of three words and "
        "more.",
        "The planted cue of the texts is a token that says a label (Bastings et al. 2021). For the overlap of words, "
        "pairs of HANS that follow are planted among pairs of SNLI; Han et al. had pairs of MNLI, where it is found.",
        "Few texts for LDS: models of some hundred texts, so that sixty of them can be trained.",
    ),
    of_run=_of_run,
    variance="Each model was trained once: the intervals are over changed labels or explained texts; the variance of "
    "training is not in them.",
    tables=("flipped", "removal", "overlap", "datamodeling", "left_out", "alike"),
)
