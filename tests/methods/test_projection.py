"""projection beside scikit-learn, scipy and slow loops; planted directions; what it says and what it refuses."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console
from scipy.stats import pearsonr, spearmanr
from sklearn.decomposition import PCA

import assay
from assay import cli
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, Unanswerable
from assay.explanations.projection import Projection
from assay.methods.vocabulary.directions import pair_direction
from assay.questions import Embeddings, Hidden
from assay.text.text import Text
from assay.views import charts, descriptions
from assay.views.projection import figure
from assay.views.scatter import SCRIPT, placed

WORDS = ("film", "plot", "comedy", "story", "dogs", "street", "music", "unwatchable")


def printed(renderable: Any) -> str:
    stream = StringIO()
    Console(file=stream, width=80, color_system=None).print(renderable)
    return stream.getvalue()


def described(**settings: Any) -> Any:
    return assay.describe(assay.load(tiny.bert()), method="projection", progress=False, **settings)


def rows(words: tuple[str, ...] = WORDS) -> np.ndarray:
    return np.asarray(Engine(assay.load(tiny.bert())).ask(Embeddings(words)).vectors)


@pytest.fixture
def planted(tmp_path: Path) -> dict[str, str]:
    """Vectors in which one direction is gender and the scores of occupations follow it; the rest is noise."""
    rng = np.random.default_rng(0)
    meaning = np.zeros(10)
    meaning[3] = 1.0
    jobs = {f"job{i}": score for i, score in enumerate(np.linspace(-1, 1, 40))}
    vectors = {word: rng.normal(size=10) + 2 * score * meaning for word, score in jobs.items()}
    for k in range(6):
        middle = rng.normal(size=10)
        vectors |= {f"she{k}": middle - 2 * meaning, f"he{k}": middle + 2 * meaning}
    lines = "\n".join(" ".join([word, *map(str, vector)]) for word, vector in vectors.items())
    (tmp_path / "vectors.txt").write_text(lines)
    (tmp_path / "pairs.txt").write_text("\n".join(f"she{k} he{k}" for k in range(6)))
    (tmp_path / "scores.csv").write_text("word,score\n" + "\n".join(f"{w},{s}" for w, s in jobs.items()))
    return {file.stem: str(file) for file in tmp_path.iterdir()}


def test_components_are_those_of_scikit_learn() -> None:
    e = described(words=WORDS)
    theirs = PCA(2).fit(rows())
    expected = theirs.transform(rows())
    signs = np.sign((e.points * expected).sum(axis=0))
    np.testing.assert_allclose(e.points * signs, expected, atol=1e-8)
    np.testing.assert_allclose([one["share"] for one in e.directions], theirs.explained_variance_ratio_)
    assert e.facts["words_of_several_pieces"] >= 1


def test_a_direction_is_the_first_component_of_pairs_around_their_middle() -> None:
    """The slow way: a list of both ends of each pair, less the middle, into scikit-learn's PCA."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 5, 8))
    a, b = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (first, second))
    listed = [end - (x + y) / 2 for x, y in zip(a, b, strict=True) for end in (x, y)]
    theirs = PCA(1).fit(np.array(listed))
    found = pair_direction(first, second, "pc1")
    assert abs(found.vector @ theirs.components_[0]) == pytest.approx(1)
    assert found.share == pytest.approx(theirs.explained_variance_ratio_[0])
    assert ((b - a) @ found.vector).sum() > 0
    one = pair_direction(first, second, "difference").vector
    np.testing.assert_allclose(one, (b - a)[0] / np.linalg.norm((b - a)[0]))


def test_a_planted_direction_is_found_and_correlates(planted: dict[str, str]) -> None:
    e = described(by="direction", **planted)
    found = e.facts["published"]
    assert abs(e.points[[e.names.index("he0"), e.names.index("she0")], 0] @ [1, -1]) > 0.5
    x = [x for name, (x, _) in zip(e.names, e.points.tolist(), strict=True) if name in e.given]
    y = [e.given[name] for name in e.names if name in e.given]
    assert found["correlation"] == pytest.approx(pearsonr(x, y)[0])
    assert found["rank_correlation"] == pytest.approx(spearmanr(x, y)[0])
    assert found["correlation"] > 0.5
    assert found["interval"][0] < found["correlation"] < found["interval"][1]
    assert found["p_value"] < 0.01 < 0.1 < found["random_correlation"] + 0.1
    assert e.facts["vectors"] == planted["vectors"]


def test_a_direction_without_meaning_does_not_pass(planted: dict[str, str], tmp_path: Path) -> None:
    """Pairs of occupations drawn by chance: as strong as random directions, on average over several draws."""
    rng = np.random.default_rng(2)
    values = []
    for k in range(12):
        drawn = rng.permutation(40)[:12].reshape(6, 2)
        pairs = tmp_path / f"random{k}.txt"
        pairs.write_text("\n".join(f"job{a} job{b}" for a, b in drawn))
        values.append(described(by="direction", **{**planted, "pairs": str(pairs)}).facts["published"]["p_value"])
    assert np.median(values) > 0.05


def test_contextual_vectors_are_means_over_the_places_of_a_word() -> None:
    texts = ["the film was dull", "A film and a plot", "Film film film", "plot and the street"]
    model = assay.load(tiny.bert())
    e = assay.describe(model, texts, "projection", layer=1, most=5, progress=False)
    engine, found = Engine(model), {}
    for text in map(Text.of, texts):
        for word, vector in zip(text.words, engine.ask(Hidden(text, layers=[1], pool="words"))[0], strict=True):
            found.setdefault(word.lower(), []).append(vector)
    assert e.names[0] == "film"
    assert set(e.names) <= set(found)
    means = np.array([np.mean(found[name], axis=0) for name in e.names], dtype=np.float64)
    theirs = PCA(2).fit_transform(means)
    np.testing.assert_allclose(np.linalg.norm(e.points, axis=1), np.linalg.norm(theirs, axis=1), atol=1e-4)
    assert e.facts["places"] == sum(len(found[name]) for name in e.names)


def test_t_sne_keeps_neighbours_and_depends_on_the_seed_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = tuple(f"w{i}" for i in range(30))
    near = np.repeat(rng.normal(size=(3, 6)) * 10, 10, axis=0) + rng.normal(size=(30, 6))
    path = tmp_path / "clusters.txt"
    path.write_text("\n".join(" ".join([w, *map(str, v)]) for w, v in zip(words, near, strict=True)))
    e, again = (described(by="tsne", words=words, vectors=str(path), seed=1) for _ in range(2))
    np.testing.assert_array_equal(e.points, again.points)
    groups = e.points.reshape(3, 10, 2)
    within = max(np.ptp(group, axis=0).max() for group in groups)
    middles = groups.mean(axis=1)
    assert min(np.linalg.norm(middles[i] - middles[j]) for i in range(3) for j in range(i)) > within
    assert e.facts["neighbours_kept"] > 0.9


def test_the_model_alone_from_the_shell(capsys: pytest.CaptureFixture[str], planted: dict[str, str]) -> None:
    settings = [part for name, value in planted.items() for part in ("-p", f"{name}={value}")]
    command = ["describe", "--model", "sst2", "-m", "projection", "-q", "-p", "by=direction", *settings]
    assert cli.main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["kind"], data["sample"]["size"]) == ("Projection", 0)
    assert set(data["points"][0]) == {"name", "x", "y"}
    assert data["directions"][0]["name"] == "she0 → he0"
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert "she0 → he0" in shown
    assert "correlate" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"words": ("film", "plot")}, BadInput, "at least 3"),
        ({"scores": "x.csv"}, BadInput, "say by=direction"),
        ({"layer": 1}, BadInput, "give a sample"),
        ({"layer": 1, "vectors": "v.txt"}, BadInput, "not both"),
        ({"vectors": "nowhere.txt"}, BadFile, r"nowhere\.txt"),
        ({"most": 2}, BadInput, "most >= 3"),
        ({"by": "direction", "pairs": "nowhere.txt"}, BadFile, r"nowhere\.txt"),
    ],
)
def test_what_cannot_be_projected_is_said(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        described(**settings)


def test_a_black_box_has_no_embedding_but_a_file_has(planted: dict[str, str]) -> None:
    box = assay.BlackBox(lambda texts: [[0.5, 0.5]] * len(texts))
    with pytest.raises(Unanswerable, match="With vectors=glove"):
        assay.describe(box, method="projection")
    assert len(assay.describe(box, method="projection", by="direction", **planted).names) == 52


def nasty() -> Projection:
    names = ("<script>alert(1)</script>", "שלום", "a\x1b[2J", "$x_1$", "東京")
    return described(words=WORDS).told(names=names, points=np.arange(10.0).reshape(5, 2))


def test_views_show_any_name_and_only_our_script() -> None:
    e = nasty()
    for shown in (e.to_html(), e._repr_html_()):
        assert "<script>alert" not in shown
        assert "\x1b" not in shown
        assert SCRIPT in shown
        assert "שלום" in shown
    assert "sha256-" in e.to_html()
    assert "\x1b" not in printed(descriptions.terminal([e]))
    assert Projection.from_json(e.to_json()).to_dict() == e.to_dict()
    assert list(e.to_frame().columns) == ["name", "x", "y"]


def test_names_do_not_overlap_and_stay_inside() -> None:
    points = np.random.default_rng(0).normal(size=(200, 2))
    dots = placed([f"word{i}" for i in range(200)], points, ["word7"])
    assert dots[7].marked
    assert dots[7].named
    assert 5 < sum(dot.named for dot in dots) <= 60
    assert all(0 <= dot.x <= 420 and 0 <= dot.y <= 320 for dot in dots)
    top = max(range(200), key=lambda i: points[i, 1])
    assert dots[top].y == min(dot.y for dot in dots)


@pytest.mark.skipif(not charts.can_draw(), reason="matplotlib is an extra")
def test_a_figure_for_a_paper() -> None:
    drawn = str(figure(nasty()))
    assert drawn.startswith("<svg")
    assert "&lt;script&gt;" in drawn
