"""A data directory for what the study of Pham et al. trains, and training that is strong enough for tiny models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import study_data
import transformers as hf

from assay.training.fit import Plan
from assay_studies.double_trouble import further_trained as further

SMALL = {
    **{"lime_samples": 12, "lime_bert_samples": 8, "drop_samples": 4, "sanity_texts": 2, "sanity_seeds": 1},
    **{"threshold_texts": 2, "sst2": 5, "esnli": 2, "multirc": 4, "multirc_train": 8, "mlm_train": 40},
}
SENTENCES = ["Two dogs run.", "A man is sad.", "The street is empty.", "It is slow."]
QUESTIONS = [
    ("Who runs?", [0], [("two dogs", True), ("a man", False)]),
    ("What is empty?", [2], [("the street", True), ("a film", False)]),
    ("Who is sad?", [1, 3], [("a man", True), ("the dogs", False)]),
]
STRONG = Plan(epochs=12, rate=5e-3, warm_up=0.0, decay=0.0)


def paragraph(sentences: list[str], questions: list[Any]) -> dict[str, Any]:
    text = "".join(f"<b>Sent {i}: </b>{s}<br>" for i, s in enumerate(sentences, start=1))
    told = [
        {"question": q, "sentences_used": used, "idx": i, "answers": [{"text": t, "isAnswer": y} for t, y in answers]}
        for i, (q, used, answers) in enumerate(questions)
    ]
    return {"id": f"p{len(sentences)}", "paragraph": {"text": text, "questions": told}}


def write_multirc(place: Path) -> None:
    (place / "multirc").mkdir()
    long = paragraph([*SENTENCES, *["Nobody laughed there, or so they say."] * 4], QUESTIONS[:1])
    data = json.dumps({"data": [paragraph(SENTENCES, QUESTIONS), long]})
    for name in ("train_456", "dev_83"):
        (place / "multirc" / f"{name}-fixedIds.json").write_text(data, encoding="utf-8")


def write(place: Path) -> Path:
    """A data directory with sentences to train on, and MultiRC."""
    study_data.write(place)
    write_multirc(place)
    more = [s.replace("the", "a") for s in study_data.SENTENCES] + [s.upper() for s in study_data.SENTENCES]
    lines = "".join(f"{s} \t{study_data.label(s)}\n" for s in [*study_data.SENTENCES, *more] * 12)
    (place / "sst2/train.tsv").write_text(f"sentence\tlabel\n{lines}", encoding="utf-8")
    return place


@contextmanager
def strong_training() -> Iterator[None]:
    """Within it, training changes what tiny models answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(further, "_PLAN", STRONG)
        patch.setattr("assay_studies.report.can_draw", lambda: False)
        yield


def opened(place: Path) -> tuple[Any, Any]:
    return hf.BertForMaskedLM.from_pretrained(place).eval(), hf.AutoTokenizer.from_pretrained(place)
