"""Table A6 of Pham et al.: models retrained without LIME's words, as many as need be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from found_tables import values
from trained_data import SMALL

import assay
from assay.data import sst
from assay.methods.input_features.lime import Lime
from assay.questions.erasers import eraser
from assay.registry.finding import find_check
from assay.training.words import Words
from assay_studies import Request
from assay_studies.double_trouble import lime_retraining, retraining
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import Task, tasks
from assay_studies.findings import StudyVerdict
from assay_studies.samples import spread
from assay_studies.store import Store


@dataclass(frozen=True)
class Counting(Words):
    """A recipe that counts its models."""

    asked: list[int] = field(default_factory=list, compare=False)

    @property
    def settings(self) -> Any:
        return Words().settings

    def make(self, texts: Any, labels: Any, seed: int, out: Path, **dev: Any) -> None:
        self.asked.append(seed)
        super().make(texts, labels, seed, out, **dev)


def test_models_of_table_2_are_not_trained_again(request_: Request, strong: None, tmp_path: Path) -> None:
    counting = Counting()
    changes = {**SMALL, "multirc_train": 0, "roar_train": 8, "roar_seeds": 2, "roar_lime": 3, "roar_lime_samples": 6}
    request = replace(request_, models={**request_.models, "trainer": counting}, out=tmp_path)
    listed = tasks(request, Sizes.of(False, changes), Store(tmp_path))
    second = retraining.PART.make(listed).tables[0]
    trained = len(counting.asked)
    assert trained == 2 + 2 * 3 * 3 * 2  # whole texts once; for both metrics three methods at three shares
    part = lime_retraining.PART.make(listed)
    (found,) = part.tables
    limes, metrics, shares, seeds = 3, 3, 3, 2
    more = len(counting.asked) - trained
    assert more == limes * metrics * shares * seeds + shares * seeds  # and random ones, where another model fills
    assert [line.label for line in found.lines] == ["LIME", "LIME_BERT", "LIME_BERT_SST2", "Random"]
    assert found.columns[6] == "ROAR_BERT_SST2 10%"
    assert values(found, "Random")[:6] == values(second, "Random")
    assert found.lines[0].cells[8].published == "72.18 ± 1.02"
    assert len(part.claims) == 2
    again = len(counting.asked)
    assert [v.cells[1:] for v in part.verdicts[:9]] == roar_by_check(listed[0])
    lime_retraining.PART.make(listed)
    assert len(counting.asked) == again
    other = replace(request, models={**request.models, FURTHER: request_.models["mlm"]})
    lime_retraining.PART.make(tasks(other, Sizes.of(False, changes), Store(tmp_path)))
    assert len(counting.asked) == again, "filled by the model of ROAR_BERT, whose models are there"


def roar_by_check(task: Task) -> list[tuple[str, ...]]:
    """What `assay.check` says of the same request; its models are those of the study."""
    assert task.train is not None
    settings = {"recipe": task.trainer, "eraser": "delete", "seeds": 2, "variant": "released"}
    train, dev = spread(list(sst.glue(task.train)), task.sizes.roar_train), list(task.examples)
    limes = [
        Lime(samples=6),
        Lime(samples=6, eraser=eraser("resample")),
        Lime(samples=6, eraser=eraser(f"resample:{FURTHER}")),
    ]
    options: dict[str, Any] = {
        "dev": dev,
        "out": task.store.out / "retrained",
        "engine": task.engine,
        "progress": False,
    }
    found = assay.check(None, train, limes, [find_check("roar").make(settings)], **options)
    return [StudyVerdict.of("", verdict).cells[1:] for verdict in found]


def test_without_table_2_all_is_trained(request_: Request, tmp_path: Path) -> None:
    changes = {**SMALL, "multirc_train": 0, "mlm_train": 0, "roar_train": 8, "roar_seeds": 2, "roar_lime": 3}
    request = replace(request_, models={**request_.models, "trainer": "words"}, out=tmp_path)
    (found,) = lime_retraining.PART.make(tasks(request, Sizes.of(False, changes), Store(tmp_path))).tables
    assert [line.label for line in found.lines] == ["LIME", "LIME_BERT", "Random"]
    assert len(found.columns) == 6


def test_a_lime_is_called_as_a_run_calls_it() -> None:
    assert lime_retraining.named(Lime()) == "lime"
    assert lime_retraining.named(Lime(samples=7)) == "lime(samples=7)"
