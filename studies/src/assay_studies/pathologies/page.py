"""The page of the study: the paper's sentences, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.of_this_run import either, has_line, of_the_old_snli
from assay_studies.page import Page

_OWN = ("SST-2",)  # the paper has no numbers for sentiment
_SENTENCES = (
    Sentence(
        key="short",
        short="Texts are often reduced to one or two words",
        quote="For all three tasks, the input is often reduced to one or two words without changing the model's "
        "prediction.",
        place="Figure 3, caption",
        reading="Our limit for “often”: more than half of the texts. Scenes stand in the place of VQA.",
        main="share of the texts less one half",
        beyond=_OWN,
        figures=("figure_3_snli", "figure_3_squad"),
    ),
    Sentence(
        key="confidence",
        short="Confidence falls slightly on SQuAD and SNLI, and rises on VQA",
        quote="On SQUAD and SNLI the confidence decreases slightly, and on VQA the confidence even increases.",
        place="section 2.2, Figure 4",
        reading="Our limit for “slightly”: by less than 0.1. Scenes, in the place of VQA, are judged as the paper made "
        "it: confidence must rise.",
        beyond=_OWN,
        figures=("figure_4_snli", "figure_4_squad"),
    ),
    Sentence(
        key="same_word",
        short="The gradient chooses the same word as exhaustive search",
        quote="it selects the same words for removal as an exhaustive search (no approximation)",
        place="section 2.1",
        reading="Our limit: in more than half of the steps.",
        main="share of the steps less one half",
        beyond=_OWN,
    ),
    Sentence(
        key="shifts",
        short="The heat map shifts as unimportant words go",
        quote="the interpretation also shifts drastically with small input changes",
        place="section 3.2, Figure 6",
        reading="Our limit: in more than half of the texts another word becomes the most important one.",
        main="share of the texts less one half",
        beyond=_OWN,
    ),
    Sentence(
        key="transfer",
        short="Reduced texts carry over to another architecture, more often than random ones",
        quote="Interestingly, the reduced examples transfer to other architectures. [...] the same prediction is "
        "triggered 81.3% of the time.",
        place="section 5.3",
        reading="The ceiling is how often the two models agree on whole texts: a share that reaches it can be no "
        "higher. That they beat random words of the same length is our condition; the paper gives the share alone.",
        main="share kept, reduced - random",
        headline={
            "share kept, reduced": "reduced texts",
            "the ceiling: share of whole texts on which both agree": "the ceiling, whole texts",
        },
        published="reduced texts 0.813",
        beyond=_OWN,
    ),
    Sentence(
        key="longer",
        short="After entropy regularisation reduced texts are longer",
        quote="The average length of reduced examples also increases across all tasks",
        place="section 4.2, Table 2",
        digits=2,
        beyond=_OWN,
    ),
    Sentence(
        key="accuracy",
        short="Accuracy remains largely unchanged",
        quote="Model Accuracy on regular validation examples remains largely unchanged after fine-tuning.",
        place="Table 2, caption",
        reading="Our limit: it falls by less than a point.",
        digits=2,
        beyond=_OWN,
    ),
    Sentence(
        key="random_longer",
        short="Fine-tuning on random reductions improves neither accuracy nor the length of reduced texts",
        quote="This baseline improves neither the model accuracy on regular examples nor interpretability under input "
        "reduction (judged by lengths of reduced examples).",
        place="section 4.2",
        digits=2,
        main="words, random - before",
        beyond=_OWN,
    ),
    Sentence(
        key="surer_than_random",
        short="The model is surer on reduced texts than on random ones of the same length",
    ),
    Sentence(
        key="same_word_recurrent",
        short="For a recurrent model the gradient chooses the same word as exhaustive search",
        main="share of the steps less one half",
    ),
    Sentence(
        key="checkpoints",
        short="Early checkpoints are reduced to similar lengths as the last, within a word",
        digits=2,
    ),
    Sentence(
        key="longer_sure",
        short="The same where reduced texts must stay 0.9 sure: longer after entropy regularisation",
        digits=2,
    ),
    Sentence(
        key="accuracy_sure",
        short="0.9 sure: accuracy falls by less than a point",
        digits=2,
    ),
    Sentence(
        key="random_longer_sure",
        short="0.9 sure: fine-tuning on random reductions improves neither accuracy nor the length",
        digits=2,
        main="words, random - before",
    ),
)
_SIZE = {name: re.compile(rf"{name} (\d[\d,]*\d|\d)") for name in ("drqa_train", "drqa_epochs")}
_MENDED = either(
    has_line("table_2", "SQuAD"),
    "SQuAD's span reader is mended on 2,000 questions, of which half are reduced.",
    "SQuAD's span reader is not mended in the run on this page; the command mends it on 2,000 questions.",
)


def _of_run(kept: Kept) -> Iterator[str]:
    yield from of_the_old_snli(kept, "The rows of SNLI")
    yield _drqa(kept)
    yield _MENDED(kept)


def _drqa(kept: Kept) -> str:
    """How much the second reader learned from, in the run that its transfer is of."""
    for facts in (kept.facts, *kept.earlier):
        told = {name: _SIZE[name].search(facts.get("Sizes", "")) for name in _SIZE}
        if (asked := told["drqa_train"]) and (epochs := told["drqa_epochs"]) and asked[1] != "0":
            return f"DrQA is trained on {asked[1]} of SQuAD's 87,599 questions, {epochs[1]} times each."
    return "DrQA is trained on 10,000 of SQuAD's 87,599 questions in the run on this page."


PAGE = Page(
    title="Pathologies, again",
    paper="Feng, Wallace, Grissom II, Iyyer, Rodriguez and Boyd-Graber (2018), *Pathologies of Neural Models Make "
    "Interpretations Difficult*, [arXiv:1804.07781](https://arxiv.org/abs/1804.07781).",
    run=(
        "assay study pathologies --data DIR --out pathologies --device cuda --workers 5",
        "assay study pathologies --data DIR --quick",
        "assay study pathologies --page pathologies     # this page",
    ),
    time="How long it takes, if one process does all: {Time} (on {Machine}).",
    needs="`DIR` holds `esnli/`, `snli_train_subset/`, `sst2/`, `sst/trees/` and `squad_v1.1/`. `paths.html` of the "
    "run shows whole reduction paths; `people/` holds the two tasks for people ([more](../people.md)).",
    meaning="If your model classifies texts, take words away until its answer changes: it will probably stay sure on "
    "one or two words that mean nothing to you, and its heat map will jump on the way. Training it to be unsure of "
    "reduced texts helps, but so does training it to be unsure of any short text, so do not take longer reductions "
    "as a sign that the model has learned what matters. A span reader keeps more of its words "
    "than a classifier here, and mending costs it accuracy.",
    sentences=_SENTENCES,
    differs=(
        "Bundled transformers of six layers in the place of BiMPM and DrQA, generated scenes in the place of VQA; "
        "sentiment is a task of its own. The second models (decomposable attention, BiLSTM, a reader after DrQA) are "
        "small and learned from little: their ceiling stands beside each share.",
        "The paper prints no numbers for its Figures 3 and 4, and those of its Tables 1 to 3 are not in the text we "
        "have: where nothing published stands beside ours, the claim is tested in its words. No people were asked.",
    ),
    of_run=_of_run,
    variance="Each model is trained once: the intervals are over texts, and training variance is not in them. It can "
    "be large: two trainings of the visual model with the same settings, on two machines, were reduced to one or two "
    "words in 71 and in 54 % of the scenes.",
    tables=("figure_3", "figure_4", "agreement", "table_2_differences"),
    drawn=("figure_5_snli", "figure_5_squad", "figure_3_sst", "figure_4_sst"),
)
