"""How the study of pathologies is run on small files and tiny models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import study_data
import tiny
import transformers as hf

from assay_studies import Findings, Request, find_study

SIZES = {
    **{"snli": 9, "sst": 8, "squad": 5, "scenes": 9, "beam": 2, "draws": 3, "per_label": 4, "glove": 0, "people": 6},
    **{"second_epochs": 1, "drqa_train": 24, "drqa_epochs": 1, "scene_train": 72, "scene_epochs": 1},
    **{"mend_train": 12, "mend_reduced": 6, "mend_epochs": 1, "mend_rank": 0, "mend_floor": 40},
    **{"checkpoints": 2, "checkpoint_texts": 6},
}


def models() -> dict[str, Any]:
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=96, initializer_range=0.4,
    )  # fmt: skip
    reader = tiny.seeded(lambda: hf.BertForQuestionAnswering(config))
    known = study_data.models()
    return {"sst2": known["sst2"], "snli": known["snli"], "squad": (reader, tokenizer)}


def run(data: Path, out: Path, heard: list[str] | None = None, **sizes: int) -> Findings:
    said = heard.append if heard is not None else lambda line: None
    request = Request(data=data, out=out, quick=True, sizes={**SIZES, **sizes}, models=models(), say=said)
    return find_study("pathologies")(request)
