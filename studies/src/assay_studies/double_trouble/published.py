"""The numbers of Pham et al. (2022), arXiv:2110.04947, as they are printed there."""

from __future__ import annotations

from typing import Final

Numbers = dict[str, str]

# Table 1 (a): area under the curve, classifiers and masked language model both BERT.
TABLE_1: Final[dict[tuple[str, str], Numbers]] = {
    ("sst2", "Deletion"): {"IM": "0.4732", "LOO_zero": "0.4374", "LOO_unk": "0.4464", "LOO_empty": "0.4241"},
    ("sst2", "Deletion_BERT"): {"IM": "0.4922", "LOO_zero": "0.4970", "LOO_unk": "0.5047", "LOO_empty": "0.5065"},
    ("esnli", "Deletion"): {"IM": "0.3912", "LOO_zero": "0.2798", "LOO_unk": "0.3742", "LOO_empty": "0.2506"},
    ("esnli", "Deletion_BERT"): {"IM": "0.2816", "LOO_zero": "0.3240", "LOO_unk": "0.3636", "LOO_empty": "0.3328"},
}

# Table 2: accuracy in per cent after retraining, at 10, 20 and 30 % of the words; SST-2.
TABLE_2: Final[dict[tuple[str, str], tuple[str, str, str]]] = {
    ("ROAR", "LOO_empty"): ("74.59 ± 0.78", "68.94 ± 1.46", "67.89 ± 0.79"),
    ("ROAR", "IM"): ("76.22 ± 1.18", "70.07 ± 0.69", "66.54 ± 1.89"),
    ("ROAR", "Random"): ("89.22 ± 0.53", "87.75 ± 0.19", "85.62 ± 0.53"),
    ("ROAR_BERT", "LOO_empty"): ("76.79 ± 0.56", "71.95 ± 0.75", "67.62 ± 1.16"),
    ("ROAR_BERT", "IM"): ("77.36 ± 0.90", "71.56 ± 1.55", "67.68 ± 0.96"),
    ("ROAR_BERT", "Random"): ("89.38 ± 0.47", "88.23 ± 0.31", "85.21 ± 0.47"),
}

# Table 3: agreement with what people marked; (dataset, metric) -> method.
TABLE_3: Final[dict[tuple[str, str], Numbers]] = {
    ("sst2", "IoU"): {
        "IM": "0.2377", "LOO_empty": "0.2756", "LIME": "0.3193", "LIME_BERT": "0.3170", "LIME_BERT_SST2": "0.3127",
    },
    ("sst2", "precision"): {
        "IM": "0.5129", "LOO_empty": "0.4760", "LIME": "0.4831", "LIME_BERT": "0.4629", "LIME_BERT_SST2": "0.4671",
    },
    ("sst2", "recall"): {
        "IM": "0.5245", "LOO_empty": "0.6077", "LIME": "0.6882", "LIME_BERT": "0.7000", "LIME_BERT_SST2": "0.6886",
    },
    ("sst2", "F1"): {
        "IM": "0.5186", "LOO_empty": "0.5338", "LIME": "0.5677", "LIME_BERT": "0.5573", "LIME_BERT_SST2": "0.5566",
    },
    ("esnli", "IoU"): {"IM": "0.3316", "LOO_empty": "0.3415"},
    ("esnli", "precision"): {"IM": "0.4599", "LOO_empty": "0.4867"},
    ("esnli", "recall"): {"IM": "0.6085", "LOO_empty": "0.6158"},
    ("esnli", "F1"): {"IM": "0.5239", "LOO_empty": "0.5437"},
    ("multirc", "IoU"): {"IM": "0.0437", "LOO_empty": "0.0887"},
    ("multirc", "precision"): {"IM": "0.1784", "LOO_empty": "0.1940"},
    ("multirc", "recall"): {"IM": "0.0630", "LOO_empty": "0.2876"},
    ("multirc", "F1"): {"IM": "0.0931", "LOO_empty": "0.2317"},
}  # fmt: skip

# Table 4: points of accuracy that are lost; (what is done) -> dataset.
TABLE_4: Final[dict[str, Numbers]] = {
    "LOO": {"sst2": "3.52", "esnli": "4.92", "multirc": "1.10"},
    "IM": {"sst2": "2.20", "esnli": "4.86", "multirc": "0.24"},
    "LIME": {"sst2": "16.38", "esnli": "25.74", "multirc": "17.85"},
}

# Table A1: mean absolute score of a word, scores being in [-1, 1].
TABLE_A1: Final[dict[str, Numbers]] = {
    "LOO_empty": {"sst2": "0.22 ± 0.27", "esnli": "0.15 ± 0.24", "multirc": "0.09 ± 0.09"},
    "IM": {"sst2": "0.17 ± 0.27", "esnli": "0.15 ± 0.27", "multirc": "0.02 ± 0.09"},
}

# Table A2: share of the words that are marked, in per cent (e-SNLI: at least two people).
TABLE_A2: Final[dict[str, Numbers]] = {
    "LOO_empty": {"sst2": "40%", "esnli": "19%", "multirc": "27%"},
    "IM": {"sst2": "30%", "esnli": "21%", "multirc": "6%"},
    "Human": {"sst2": "37%", "esnli": "18%", "multirc": "16%"},
}

# Table A3, and from section 2 the likelihood that ten candidates cover, in per cent.
TABLE_A3: Final[dict[str, Numbers]] = {
    "all": {"sst2": "48.94", "esnli": "59.43", "multirc": "64.78"},
    "highlights": {"sst2": "41.25", "esnli": "42.74", "multirc": "68.55"},
    "likelihood": {"sst2": "0.8229", "esnli": "0.8146", "multirc": "0.8556"},
    "mass": {"sst2": "81", "esnli": "90", "multirc": "92"},
}

# Table A4: area of IM on SST-2, ten candidates against all of likelihood 1e-5 or more.
TABLE_A4: Final[dict[str, Numbers]] = {
    "Deletion": {"IM": "0.4732", "IM_all": "0.4783"},
    "Deletion_BERT": {"IM": "0.4922", "IM_all": "0.4824"},
}

# Table A5: the classification layer randomised.
TABLE_A5: Final[dict[tuple[str, str], Numbers]] = {
    ("signs", "LOO_empty"): {"sst2": "71.41 ± 17.12", "esnli": "56.07 ± 21.82"},
    ("signs", "IM"): {"sst2": "62.27 ± 17.75", "esnli": "49.57 ± 20.35"},
    ("change", "LOO_empty"): {"sst2": "0.46 ± 0.18", "esnli": "0.26 ± 0.14"},
    ("change", "IM"): {"sst2": "0.31 ± 0.12", "esnli": "0.16 ± 0.12"},
}

# Table A6: as Table 2, for LIME; the third metric fills with a masked language model that knows SST-2.
TABLE_A6: Final[dict[tuple[str, str], tuple[str, str, str]]] = {
    ("ROAR", "LIME"): ("75.51 ± 0.55", "75.30 ± 0.80", "77.45 ± 0.70"),
    ("ROAR", "LIME_BERT"): ("73.99 ± 0.74", "72.22 ± 0.73", "70.82 ± 0.86"),
    ("ROAR", "LIME_BERT_SST2"): ("74.15 ± 1.26", "70.85 ± 0.89", "70.48 ± 0.98"),
    ("ROAR_BERT", "LIME"): ("78.14 ± 0.54", "73.44 ± 0.65", "70.57 ± 0.56"),
    ("ROAR_BERT", "LIME_BERT"): ("74.13 ± 0.72", "70.44 ± 0.86", "70.48 ± 0.63"),
    ("ROAR_BERT", "LIME_BERT_SST2"): ("76.19 ± 0.91", "69.77 ± 0.46", "67.61 ± 0.53"),
    ("ROAR_BERT_SST2", "LIME"): ("78.83 ± 1.28", "74.47 ± 0.67", "72.18 ± 1.02"),
    ("ROAR_BERT_SST2", "LIME_BERT"): ("75.78 ± 0.22", "71.33 ± 1.04", "68.76 ± 0.79"),
    ("ROAR_BERT_SST2", "LIME_BERT_SST2"): ("76.08 ± 0.46", "70.92 ± 0.64", "71.08 ± 0.34"),
}
