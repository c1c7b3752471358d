"""The page of the study: the paper's sentences, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_studies.double_trouble import sanity
from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.of_this_run import either, has_line, has_table, of_the_old_snli
from assay_studies.page import Page
from assay_studies.stays import STAYS

_STRONG = "SST, strong phrases"
_SENTENCES = (
    Sentence(
        key="turns",
        short="The order of IM and LOO_empty turns around between Deletion and Deletion_BERT",
        quote="The Deletion_BERT metric in Kim et al. (2020) is biased towards IM as both use BERT to replace words "
        "[...]. In contrast, the vanilla Deletion metric [...] favors the LOO_empty baseline as both delete words.",
        place="section 1, contribution 1",
        digits=4,
        main="IM - LOO_empty under Deletion_BERT",
    ),
    Sentence(
        key="Deletion_best",
        short="Under Deletion LOO_empty is the best",
        quote="under Deletion, on both SST-2 and e-SNLI, IM underperformed all three LOO baselines and [...] LOO_empty "
        "is the highest-performing method (Table 1a)",
        place="section 4",
        digits=4,
    ),
    Sentence(
        key="Deletion_BERT_best",
        short="Under Deletion_BERT IM is the best",
        quote="In contrast, IM is the best method under Deletion_BERT.",
        place="section 4",
        digits=4,
        figures=("table_1",),
    ),
    Sentence(
        key="roar",
        short="Under ROAR and ROAR_BERT IM is not better than LOO_empty",
        quote="under both ROAR and ROAR_BERT, IM is not more faithful than LOO_empty",
        place="section 5.1, Table 2",
        reading="Points of accuracy after retraining: lower is better, so the claim puts IM - LOO_empty at zero or "
        "above. Models that a method has taken to the commonest class can be compared no more.",
        digits=2,
        figures=("table_2",),
    ),
    Sentence(
        key="people",
        short="LOO_empty agrees better with people than IM",
        quote="LOO_empty aligns significantly better with human annotations than IM",
        place="section 5.2, Table 3",
        main="LOO_empty - IM in IoU",
        beyond=(_STRONG,),
        figures=("table_3_sst2",),
    ),
    Sentence(
        key="people_lime",
        short="LIME_BERT does not agree better with people than LIME",
        quote="compared to human annotations in SST, LIME_BERT’s IoU, precision and F1 scores are all slightly worse "
        "than those of LIME",
        place="section 6.1, Table 3",
        main="less LIME, in IoU",
        beyond=tuple(f"{_STRONG}, {name}" for name in ("LIME_BERT", "LIME_BERT_SST2")),
    ),
    Sentence(
        key="roar_lime",
        short="Under ROAR LIME_BERT is better than LIME",
        quote="we find that LIME_BERT slightly, but consistently outperforms LIME via all three ROAR metrics tested",
        place="section 6.2, Table A6",
        reading="Points of accuracy after retraining: lower is better.",
        digits=2,
    ),
    Sentence(
        key="one_word",
        short="Deleting one word costs little accuracy",
        quote="Across SST, e-SNLI, and MultiRC, the accuracy scores of classifiers only drop marginally ∼1–4 points "
        "(Table 4) when a single token is deleted.",
        place="section 5.4",
        reading="Our limit: less than 5 points.",
        digits=2,
    ),
    Sentence(
        key="Deletion_best_1b",
        short="Under Deletion LOO_empty is the best where another masked language model fills the holes",
        quote="Re-running the same experiment but sampling replacement words from RoBERTa (instead of BERT), we find "
        "the same finding that LOO_empty is the best under Deletion while IM is the best under Deletion_BERT",
        place="section 4, Table 1b",
        digits=4,
    ),
    Sentence(
        key="Deletion_BERT_best_1b",
        short="Under Deletion_BERT IM is the best, the same model filling",
        quote="[...] while IM is the best under Deletion_BERT",
        place="section 4, Table 1b",
        digits=4,
    ),
    Sentence(
        key="Deletion_worst",
        short="Under Deletion IM is the worst",
        quote="under Deletion, on both SST-2 and e-SNLI, IM underperformed all three LOO baselines",
        place="section 4",
        digits=4,
    ),
    Sentence(
        key="lime_cost",
        short="LIME's samples cost much more accuracy than one word",
        quote="In contrast, LIME samples cause the classification accuracy to drop substantially",
        place="Table 4, caption",
        reading="Our limit: three times as much.",
        digits=2,
        main="loss by LIME less 3 times that by one word",
    ),
    Sentence(
        key="randomised_signs",
        short="When the classifier is randomised, IM changes signs less often than LOO_empty",
        quote="IM is consistently worse than LOO_empty, i.e. more insensitive to classifier randomization",
        place="section 5.3, Table A5",
        digits=2,
    ),
    Sentence(
        key="randomised_change",
        short="When the classifier is randomised, IM changes less than LOO_empty",
        quote="IM is consistently worse than LOO_empty, i.e. more insensitive to classifier randomization",
        place="section 5.3, Table A5",
    ),
    Sentence(
        key="magnitude",
        short="Scores of IM are smaller than those of LOO_empty",
        quote="The average absolute value of attribution scores per token of LOO_empty is consistently higher than "
        "that of IM.",
        place="Table A1, caption",
        main="IM - LOO_empty, scaled",
    ),
    Sentence(
        key="variants",
        short="Insertion, comprehensiveness and sufficiency favour the method that takes words away as they do",
        quote="This bias [...] also exists in other Deletion variants, e.g., Insertion",
        place="section 1, contribution 1",
        digits=4,
    ),
    Sentence(key="Deletion_worst_1b", short="Under Deletion IM is the worst, the other model filling", digits=4),
    Sentence(key="roar_random", short="Both do better under ROAR than random words", digits=2),
    Sentence(key="coverage", short="At its best threshold IM marks fewer words than LOO_empty"),
    Sentence(
        key="put_back",
        short="The masked language model puts a third of the words back, and is sure of them (0.7)",
        digits=2,
    ),
    Sentence(key="candidates", short="Ten candidates do as well as all likely ones, areas within 0.05", digits=4),
)
_EITHER = (
    either(
        lambda kept: any(one.aside for one in kept.claims.get("people_lime", ())),
        "LIME drew 1,000 samples and LIME_BERT and LIME_BERT_SST2 100 in Table 3 of the run on this page, which is no "
        "fair comparison and decides nothing; the command draws 1,000 for all.",
        "LIME, LIME_BERT and LIME_BERT_SST2 draw 1,000 samples of each text.",
    ),
    either(
        has_table("table_3_esnli_l3"),
        "e-SNLI: highlights are one set for each pair, not three people: those of the authors' file, which has no "
        "neutral pairs, and for neutral pairs those of one person of another file. Words that three people marked (L3) "
        "are not to be had: in their place stand the words that both files mark.",
        "e-SNLI: the highlights are one set for each pair, not three people, and the run on this page has no neutral "
        "pairs. The command takes these from another file, and has words that both files mark in the place of L3.",
    ),
    either(
        has_table("table_1b"),
        "Table 1b has the masked language model that was trained further on SST-2 in the place of RoBERTa: another "
        "model, but of the same architecture.",
        "Table 1b (RoBERTa) is not in the run on this page. The command makes it with the masked language model that "
        "was trained further on SST-2, another model of the same architecture.",
    ),
    either(
        lambda kept: any("trained on 6,000" in note for note in kept.tables["table_2"].notes),
        "ROAR: the run on this page learned from 6,000 texts of SST-2 train, not 67,349, in batches of 32 at a rate of "
        "2e-5; where 30 % of the words go, models fall to the commonest class, so that methods cannot be compared "
        "there. The command takes 30,000 texts, batches of 128 and a rate of 2e-4.",
        "ROAR: 30,000 texts of SST-2 train, not 67,349, in batches of 128 at a rate of 2e-4 for the paper's 32 and "
        "2e-5, as our encoder is a fifth of its size; neither was chosen by a result of ROAR.",
    ),
    either(
        has_line("table_a6", "LIME_BERT_SST2"),
        "LIME draws 100 samples of each training text in Table A6.",
        "LIME draws 100 samples of each training text in Table A6, which has no row of LIME_BERT_SST2 in the run on "
        "this page; the command makes it.",
    ),
)


_JUDGED = re.compile(r"([\d.]+%) of ([\d,]+) texts of dev(?:, the commonest label ([\d.]+%))?")


def _of_run(kept: Kept) -> Iterator[str]:
    yield from of_the_old_snli(kept, "The rows of e-SNLI")
    yield _multirc(kept)
    yield from (one(kept) for one in _EITHER)
    yield _signs(kept)
    if any("table_2 (" in facts.get(STAYS, "") for facts in kept.earlier):
        yield (
            "ROAR_BERT in Table 2, and all of Table A6, are of an earlier run: five models that learned from 6,000 "
            "texts, in batches of 32 at a rate of 2e-5, and fall to the commonest class where 30 % of the words go. "
            "With 30,000 texts they were begun and not finished."
        )


def _signs(kept: Kept) -> str:
    """How much the draws of Table A5 differ."""
    table = kept.tables["table_a5"]
    cells = {line.label: line.cells[table.columns.index("SST-2")].ours for line in table.lines}
    drawn = {name: cells.get(f"LOO_empty: {line}") for name, line in sanity.LINES.items()}
    mean, fewest, most = (drawn[name] for name in ("signs", "fewest", "most"))
    if mean is None or fewest is None or most is None:
        return (
            "After randomisation half of the words change their sign here (published 71 and 62 %); why is not known. "
            "The command draws ten layers and shows those with the fewest and the most changes."
        )
    return (
        "A drawn layer looks along the old direction or against it, for all texts alike: on SST-2 LOO_empty changes "
        f"{fewest.value:.0f} % of the signs in one of our draws and {most.value:.0f} % in another, {mean.value:.0f} % "
        "in the mean (published, over three draws: 71 %). Table A5 tells little about a method unless draws are many."
    )


def _multirc(kept: Kept) -> str:
    """How good the reader of the run that the numbers of MultiRC are of is; its share of dev is among the facts."""
    told = filter(None, (_JUDGED.search(facts.get("MultiRC", "")) for facts in (kept.facts, *kept.earlier)))
    share, texts, commonest = next((one.groups() for one in told), ("65.3%", "2,500", None))
    return (
        f"MultiRC is read by a model that the study trains on the bundled encoder (right on {share} of {texts} answers "
        f"of dev, the commonest label is {commonest or '57.2%'}; published 69.1 %)."
    )


PAGE = Page(
    title="Double Trouble, again",
    paper="Pham, Bui, Mai and Nguyen (2022), *Double Trouble: How to not Explain a Text Classifier's Decisions Using "
    "Counterfactuals Synthesized by Masked Language Models?*, [arXiv:2110.04947](https://arxiv.org/abs/2110.04947).",
    run=(
        "assay study double_trouble --data DIR --out double_trouble --device cuda --workers 5 --size multirc=100 "
        "--size roar_train=30000 --size roar_lime=3 --size roar_seeds=3",
        "assay study double_trouble --data DIR --quick",
        "assay study double_trouble --page double_trouble     # this page",
    ),
    time="How long it takes, if one process does all: {Time} (on {Machine}); `--quick` takes five minutes on two "
    "cores.",
    needs="`DIR` holds `sst2/dev.tsv` and `sst2/train.tsv` (GLUE), `sst/trees/dev.txt` (the treebank), "
    "`esnli/dev_human_highlights_from_im.jsonl`, `esnli_dev_test_nile/dev.tsv.xz` and `multirc/` (both "
    "files as published). `--size mlm_train=0` leaves out LIME_BERT_SST2, `--size multirc_train=0` MultiRC; without "
    "`roar_train` there is no Table 2.",
    meaning="Do not judge a method by a check that takes words away in the same way as the method does: on sentiment "
    "the same two methods change places when the check fills its holes instead of leaving them. Run both erasers "
    "(`--eraser delete` and `--eraser resample`), and believe a difference that both show. How well a method agrees "
    "with people depends on the task.",
    sentences=_SENTENCES,
    differs=(
        "Models: the bundled encoder (6 layers, 22.7 M weights) for SST-2, SNLI and as masked language model, not "
        "BERT-base.",
        "SST highlights come from the five classes of the trees; the paper had real-valued scores.",
        "LIME_BERT fills all holes at once; LIME explains log-odds and treats every position as a feature. IM puts in "
        "whole words only.",
        "Thresholds against people are tuned on the same texts, as published.",
    ),
    of_run=_of_run,
    variance="Intervals are over texts; those of Tables 2 and A6 are over seeds, after Student. The other models "
    "are trained once, and that variance is not in the intervals.",
    tables=(
        *("table_1", "table_1b", "table_2", "table_3_sst2", "table_3_esnli", "table_3_esnli_l3", "table_3_multirc"),
        *("table_4", "table_a2", "table_a5", "table_a6"),
    ),
    drawn=("table_4",),
)
