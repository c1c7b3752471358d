"""The tasks for people, exported beside the study, and their answers where there are any (section 2.3, Tables 1 and 3).

    DIR/people/TASK/            items to show and their key, from texts that the model gets right (see workflows.people)
    DIR/people/TASK_mended/     the same for the model after entropy regularisation
    DIR/answers/TASK.csv        the answers, with the columns item, annotator and answer (or .tsv, .jsonl, .parquet)

An export that is there already is left as it is, as people may be answering it. The scenes are not exported: people
would have to be shown their images.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from assay.engine.engine import Engine
from assay.errors import BadInput, UnknownName
from assay.workflows.people import PeopleStudy, Scores, TaskText, collect, lists, read_answers, score
from assay.workflows.people import tasks as asked
from assay.workflows.people.sample import balanced, first_of_each, rank
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.tasks import TITLES, Task

AFTER = "_mended"
_PEOPLE = 6  # lists that are written; two people for each role of a text
_NO_IMAGES = ("scenes",)


def export(listed: Sequence[Task]) -> list[str]:
    """The tasks for people of each task; sentences about exports that belong to another run."""
    return [note for task in listed for note in _exported(task)] if listed[0].sizes.people else []


def _exported(task: Task) -> Iterator[str]:
    if task.name in _NO_IMAGES:
        return
    rows = chosen(task)
    if not rows:
        yield f"{task.title}: the model gets no text right, so that there is nothing to ask people about."
        return
    yield from _write(task, task.reduced, rows, task.name)
    if task.mendable:
        yield from _write(task, *_after(task, rows), f"{task.name}{AFTER}")


def chosen(task: Task) -> list[int]:
    """Texts that the model gets right, each once, as many of each label."""
    known = task.reduced
    assert known.accuracy is not None
    rows = {i: known.labels[i] for i in first_of_each([t.read.strings for t in known.texts]) if known.accuracy[i]}
    ranks = {i: rank(0, known.texts[i].read.strings) for i in rows}
    return balanced(rows, ranks, task.sizes.people)


def _after(task: Task, rows: Sequence[int]) -> tuple[Reduced, list[int]]:
    """The same texts, reduced by the mended model, as far as it still gets them right."""
    examples = [task.examples[i] for i in rows]
    settings = {**task.settings, "mended": task.mend_place().name, "rows": list(rows)}
    made = task.reduced_by(lambda: Engine(task.after), examples, f"{task.name}{AFTER}", settings)
    assert made.accuracy is not None
    return made, [i for i, right in enumerate(made.accuracy) if right]


def _write(task: Task, known: Reduced, rows: Sequence[int], name: str) -> Iterator[str]:
    if not rows:
        yield f"{name}: there is nothing to ask people about."
        return
    assert known.gold is not None
    made = asked([TaskText.of(i + 1, known.edits[i], known.gold[i]) for i in rows])
    study = PeopleStudy(_people(task.store.out) / name)
    if not (study.place / "private").exists():
        study.write(made, lists(made, _PEOPLE))
        return
    there = study.keys()
    if {key.item for key in there} != {key.item for key in made.keys}:
        yield f"{study.place} holds tasks of another run, and was left as it is."


def answers(out: Path) -> dict[str, Path]:
    """The files with answers, by the names of their tasks."""
    place = out / "answers"
    found = {path.stem: path for path in sorted(place.iterdir()) if path.is_file()} if place.is_dir() else {}
    known = sorted(path.name for path in _people(out).iterdir()) if _people(out).is_dir() else []
    if found and not known:
        raise BadInput(f"there are answers in {place}, but no tasks in {_people(out)} that they belong to.")
    for name in found:
        if name not in known:
            raise UnknownName.of("task for people", name, known)
    return found


def settings(out: Path) -> dict[str, str]:
    """What the tables of people depend on."""
    return {name: blake2b(path.read_bytes(), digest_size=8).hexdigest() for name, path in answers(out).items()}


def scores(out: Path, *, after: bool) -> dict[str, Scores]:
    """What people said, by the titles of the tasks: to the models as they were, or after mending."""
    wanted = {name: path for name, path in answers(out).items() if name.endswith(AFTER) == after}
    return {_title(name): _score(_people(out) / name, path) for name, path in wanted.items()}


def _score(place: Path, path: Path) -> Scores:
    study = PeopleStudy(place)
    return score(collect(study.keys(), read_answers([path]), study.assignments()))


def _title(name: str) -> str:
    return TITLES.get(name.removesuffix(AFTER), name)


def _people(out: Path) -> Path:
    return out / "people"
