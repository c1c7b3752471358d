"""The parts of the study as tasks: which model, which data, and why a part cannot be made here, if it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from assay.engine.engine import Engine
from assay.errors import AssayError
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.statistics.exact import Share
from assay.statistics.intervals import Estimate
from assay.verbs import describe
from assay_studies.asking import asked, examined
from assay_studies.published import Published
from assay_studies.request import Request
from assay_studies.sizing import Sizing
from assay_studies.store import Store

T = TypeVar("T")
SURVEY = Published({})  # the survey's own numbers stand with the sentences of the page
LAYOUT = (
    "hans/hans_regenerated_eval.tsv.xz, esnli_dev_test_nile/test.tsv.xz, ud_english_ewt/*.conllu.xz, "
    "crows_pairs, vig_causal_mediation and debiaswe"
)


@dataclass(frozen=True)
class Place:
    """What a part is called, the model that it is about, and the files that it reads."""

    title: str
    model: str
    sizes: tuple[str, ...]
    files: tuple[str, ...]


PLACES: Mapping[str, Place] = {
    "heuristics": Place("HANS", "snli", ("hans",), ("hans/hans_regenerated_eval.tsv.xz",)),
    "shuffled": Place("SNLI, words shuffled", "snli", ("shuffled",), ("esnli_dev_test_nile/test.tsv.xz",)),
    "layers": Place(
        "Parts of speech",
        "mlm",
        ("words", "few", "mlp"),
        tuple(f"ud_english_ewt/en_ewt-ud-{split}.conllu.xz" for split in ("train", "dev")),
    ),
    "stereotypes": Place(
        "Stereotypes",
        "mlm",
        ("stereotypes",),
        (
            "crows_pairs/crows_pairs_anonymized.csv.xz",
            "vig_causal_mediation/winobias_data/pro_stereotyped_type1.txt.dev",
            "vig_causal_mediation/winobias_data/anti_stereotyped_type1.txt.dev",
        ),
    ),
    "professions": Place(
        "Professions", "writer", ("professions",), ("vig_causal_mediation/experiment_data/professions.json",)
    ),
    "winobias": Place(
        "WinoBias",
        "writer",
        ("sentences",),
        tuple(f"vig_causal_mediation/winobias_data/pro_stereotyped_type1.txt.{split}" for split in ("dev", "test")),
    ),
    "winogender": Place(
        "Winogender",
        "writer",
        ("sentences",),
        tuple(f"vig_causal_mediation/winogender_data/winogender_{n}.tsv" for n in ("templates", "occupation_stats")),
    ),
    "direction": Place(
        "Direction of gender", "mlm", ("vocabulary",), ("debiaswe/professions.json", "debiaswe/definitional_pairs.json")
    ),
    "rotation": Place("Rotated vocabulary", "mlm", ("vocabulary",), ()),
    "neurons": Place(
        "Neurons",
        "snli",
        ("neurons",),
        ("esnli_dev_test_nile/test.tsv.xz", "ud_english_ewt/en_ewt-ud-train.conllu.xz"),
    ),
}


@dataclass(frozen=True, eq=False)
class Task:
    """One part: `data` is the directory of datasets."""

    name: str
    data: Path
    request: Request
    sizes: Any  # those of the study
    store: Store

    @property
    def place(self) -> Place:
        return PLACES[self.name]

    @property
    def title(self) -> str:
        return f"{self.place.title} ({self.place.model})"

    def path(self, i: int = 0) -> Path:
        return self.data / self.place.files[i]

    def file(self, i: int = 0) -> str:
        return str(self.path(i))

    @cached_property
    def model(self) -> TextModel:
        return self.request.open(self.place.model)

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model)

    @cached_property
    def left_out(self) -> str:
        """Why the part is not made; empty where it is."""
        if not all(getattr(self.sizes, name) for name in self.place.sizes):
            return f"{self.place.title}: left out, its size is 0."
        gone = [name for name in self.place.files if not (self.data / name).is_file()]
        if gone:
            return f"{self.place.title}: left out, {self.data} has no {gone[0]}."
        try:
            self.model.fingerprint()
        except (AssayError, ImportError) as why:
            return f"{self.place.title}: left out, there is no model {self.place.model} here ({why})"
        return ""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """What its results depend on."""
        if self.left_out:
            return {"left_out": self.left_out}
        wanted = {name: getattr(self.sizes, name) for name in (*self.place.sizes, "draws")}
        files = {name: (self.data / name).stat().st_size for name in self.place.files}
        return {"sizes": wanted, "model": self.model.fingerprint(), "files": files}

    def describe(self, method: str, sample: Any = None, **settings: Any) -> Any:
        """What a method says of the model."""
        self.request.say(f"{self.title}: {method} {settings.get('task') or ''}".rstrip())
        return describe(None, sample, method, engine=self.engine, progress=self.request.progress, **settings)

    def ask(self, talk: Conversation[T]) -> T:
        return asked(self.engine, [talk])[0]

    def judge(self, check: Any, e: Any) -> Any:
        return examined(self.engine, [e], check, self.sizes.draws, bool(self.request.progress))


def tasks(request: Request, sizes: Sizing, store: Store, names: Sequence[str]) -> list[Task]:
    """These parts; those that cannot be made say why."""
    data = request.directory(LAYOUT)
    return [Task(name, data, request, sizes, store) for name in names]


def only(name: str) -> Callable[[Task], bool]:
    return lambda task: task.name == name


def reason(chosen: Sequence[Task]) -> str:
    """The sentence in the place of a part that cannot be made."""
    return " ".join(task.left_out for task in chosen if task.left_out)


def share(count: int, of: int) -> Estimate:
    """A share with its exact interval."""
    exact = Share.exact(count, of)
    return Estimate(count / of, exact.low, exact.high, of)
