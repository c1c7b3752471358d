"""The page of the study: the survey's sentences, and what they mean."""

from __future__ import annotations

from assay_studies.edits.sayings import SENTENCES
from assay_studies.page import Page

PAGE = Page(
    title="Edits of a text that change the answer",
    paper="Madsen, Reddy and Chandar (2022), *Post-hoc Interpretability for Neural NLP: A Survey*, "
    "[arXiv:2108.04840](https://arxiv.org/abs/2108.04840), sections 7, 9 and 15.1, on HotFlip "
    "([arXiv:1712.06751](https://arxiv.org/abs/1712.06751)), SEA and SEAR "
    "([P18-1079](https://doi.org/10.18653/v1/P18-1079)), Polyjuice "
    "([arXiv:2101.00288](https://arxiv.org/abs/2101.00288)) and MiCE "
    "([arXiv:2012.13985](https://arxiv.org/abs/2012.13985)).",
    run=(
        "assay study edits --data DIR --device cuda --out edits",
        "assay study edits --data DIR --quick",
        "assay study edits --data DIR --device cuda --out sst2 --size snli=0 --size ag_news=0 --size imdb=0",
        "assay study edits --page sst2     # this page, and so on for each dataset",
    ),
    time="On an H200 with company, with one core for each dataset, 150 texts of SST-2 take 8 minutes, 150 of SNLI "
    "4, 100 news 17; 100 reviews of IMDb take longer than that. On one core, 30 texts of SST-2 and of SNLI and "
    "20 of AG News take more than half an hour; `--quick` takes a few of each.",
    needs="`DIR` holds `sst2/`, `snli_train_subset/`, `counterfactual_aug/`, `imdb/` and `ag_news/`, and the writer's "
    "base is installed ([more](../writer.md)).",
    meaning="That a model says something else says little: any search finds such a text. Ask a second model "
    "(`label_kept`) whether the text still means what it meant. Where it does, the edit is a mistake of your model; "
    "where it does not, the edit shows what your model goes by. A method's name does not tell which of the "
    "two you got.",
    sentences=SENTENCES,
    differs=(
        "The survey compares nothing: it reports what each paper says of itself. Here all methods edit the same texts, "
        "those that the model is right about, and each is beside random edits of the same size (the verdicts in the "
        "report of a run).",
        "People were not asked for the label of an edited text. In their place a judge was: a logistic regression on "
        "words and pairs of words that learned from other texts. It is asked of texts alone of which it "
        "gives the right "
        "label before the edit. Of pairs it is right about seven times in ten, and what it says of them is rough; how "
        "it does on texts that people revised stands under “Our own questions”.",
        "HotFlip changes words, up to three. “Similar words” asks for a cosine of the input embeddings of "
        "at least 0.4, "
        "and the same part of speech: 0.8, as in the paper, is for vectors that were trained to be alike for "
        "paraphrases.",
        "SEA paraphrases by a small model with an adapter, and asks S >= 0.8; the authors' code cuts S far lower.",
        "MiCE has two editors here: the masked language model, and `writer:editor`, which was trained for the labels "
        "of all these datasets. Of equally small versions it takes the one that the masked model finds the most "
        "fluent, and fluency is measured by the same model: this column favours MiCE over the others.",
    ),
    variance="The models were trained once: the intervals are over texts, and training variance is not in them.",
    tables=tuple(f"{part}_{name}" for part in ("ways", "rules") for name in ("sst2", "snli", "ag_news", "imdb")),
)
