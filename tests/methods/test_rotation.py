"""rotation: a planted space is read again; the kind Loadings, its views, and the check of its words."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console

import assay
from assay.errors import BadInput
from assay.explanations.loadings import Loadings
from assay.views import descriptions

GROUPS, SIZE = 12, 120
WORDS = [f"g{i % GROUPS:02}w{i}" for i in range(SIZE)]  # the group of each word stands in its name


def write(path: Path, vectors: np.ndarray) -> str:
    lines = (" ".join([word, *map(str, row)]) for word, row in zip(WORDS, vectors.tolist(), strict=True))
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Groups of words, each along an axis of its own, mixed; and a judge who knows the same groups by other axes."""
    place, rng = tmp_path_factory.mktemp("spaces"), np.random.default_rng(0)
    planted = rng.normal(size=(SIZE, GROUPS)) * 0.05
    planted[np.arange(SIZE), np.arange(SIZE) % GROUPS] = rng.uniform(0.5, 2, size=SIZE)
    turned, _ = np.linalg.qr(rng.normal(size=(GROUPS, GROUPS)))
    judge = rng.normal(size=(GROUPS, 12))[np.arange(SIZE) % GROUPS] * 2 + rng.normal(size=(SIZE, 12))
    return {
        "mixed": write(place / "mixed.txt", planted @ turned),
        "judge": write(place / "judge.txt", judge),
        "noise": write(place / "noise.txt", rng.normal(size=(SIZE, 12))),
    }


def described(spaces: dict[str, str], **settings: Any) -> Any:
    model = assay.load(tiny.bert())
    return assay.describe(model, method="rotation", vectors=spaces["mixed"], progress=False, **settings)


def test_each_dimension_is_one_of_the_planted_groups(spaces: dict[str, str]) -> None:
    e = described(spaces)
    groups = [{word[:3] for word in e.top(i, 6)} for i in range(GROUPS)]
    assert all(len(group) == 1 for group in groups)
    assert set.union(*groups) == {f"g{i:02}" for i in range(GROUPS)}
    assert (np.diff((e.loadings**2).sum(axis=0)) <= 0).all()
    assert ((e.loadings**3).sum(axis=0) > 0).all()
    assert any(len({word[:3] for word in e.top(i, 6, before=True)}) > 1 for i in range(GROUPS))


def test_no_distance_changes(spaces: dict[str, str]) -> None:
    e = described(spaces)
    given = np.array([[float(x) for x in line.split()[1:]] for line in Path(spaces["mixed"]).read_text().splitlines()])
    np.testing.assert_allclose(e.loadings @ e.loadings.T, given @ given.T, atol=1e-9)
    np.testing.assert_allclose(e.unrotated, given, atol=1e-9)


def test_the_models_own_embedding_is_reduced_first() -> None:
    e = assay.describe(assay.load(tiny.bert()), method="rotation", most=40, dimensions=6, progress=False)
    assert e.loadings.shape == (len(e.words), 6)
    assert 0 < e.facts["variance_kept"] < 1
    assert e.sample.size == 0


def checked(spaces: dict[str, str], judge: str = "judge", **settings: Any) -> Any:
    model = assay.load(tiny.bert())
    method = {"vectors": spaces["mixed"], **settings}
    made = assay.registry.find_method("rotation").make(method)
    check = assay.registry.find_check("word_intrusion").make({"judge": spaces[judge]})
    (found,) = assay.check(model, None, [made], [check], draws=60, progress=False)
    return found


def test_word_intrusion_finds_dimensions_that_can_be_read(spaces: dict[str, str]) -> None:
    found = checked(spaces).to_dict()
    assert found["mean"] > 0.9
    assert found["random"] < 0.85
    assert found["facts"]["before_rotation"] < found["mean"]
    assert found["facts"]["chance"] == pytest.approx(1 / 6)
    assert found["verdict"] == "better than random"


def test_a_judge_who_knows_nothing_finds_nothing(spaces: dict[str, str]) -> None:
    found = checked(spaces, judge="noise").to_dict()
    assert abs(found["mean"] - 1 / 6) < 0.25
    assert found["p_value"] > 0.05


def test_random_rotations_do_not_pass(spaces: dict[str, str]) -> None:
    """Each of several random rotations put to the check in the place of the method's."""
    e = described(spaces)
    check = assay.registry.find_check("word_intrusion").make({"judge": spaces["judge"]})
    engine = assay.engine.engine.Engine(assay.load(tiny.bert()))
    values = []
    for k, drawn in enumerate(e.random_like(12)):
        other = drawn.told(about=assay.explanations.about.About(method="rotation", seed=k + 1))
        (found,) = assay.verdicts.judge.judge(engine, [other], [check], draws=40, progress=False)
        values.append(found.to_dict()["p_value"])
    assert np.median(values) > 0.1
    assert sum(value < 0.05 for value in values) <= 3


def test_a_judge_does_not_judge_itself(spaces: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="cannot judge itself"):
        checked(spaces, judge="mixed")


def test_random_rotations_keep_the_words_and_their_distances(spaces: dict[str, str]) -> None:
    e = described(spaces)
    for drawn in e.random_like(3):
        np.testing.assert_allclose(drawn.loadings @ drawn.loadings.T, e.loadings @ e.loadings.T, atol=1e-9)
        np.testing.assert_allclose(drawn.unrotated, e.unrotated, atol=1e-9)
        assert np.abs(drawn.loadings - e.loadings).max() > 0.1


def test_views_and_saving(spaces: dict[str, str]) -> None:
    e = described(spaces).told(words=("<script>alert(1)</script>", "a\x1b[2J", *WORDS[2:]))
    for shown in (e.to_html(), e._repr_html_()):
        assert "<script>alert" not in shown
        assert "\x1b" not in shown
        assert "After the rotation" in shown
    stream = StringIO()
    Console(file=stream, width=80, color_system=None).print(descriptions.terminal([e]))
    assert "\x1b" not in stream.getvalue()
    assert all(len(line) <= 80 for line in stream.getvalue().splitlines())
    assert Loadings.from_json(e.to_json()).to_dict() == e.to_dict()
    assert e.to_frame().shape == (SIZE, GROUPS)
    with pytest.raises(ValueError, match="orthogonal"):
        e.told(rotation=np.ones((GROUPS, GROUPS)))


@pytest.mark.parametrize("settings", [{"most": 2}, {"dimensions": 1}])
def test_what_cannot_be_rotated(spaces: dict[str, str], settings: dict[str, int]) -> None:
    with pytest.raises(BadInput, match="rotation needs"):
        described(spaces, **settings)
