"""The newcomer's test of CONTRIBUTING: a method, a method that describes, a check and a question, each in one new file.

The files are those that CONTRIBUTING shows. They are written to a directory of their own, imported as a package of
somebody else would be, and used through the public face.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path

import numpy as np
import pytest
import tiny

import assay
from assay.models.transformers.handlers import table
from assay.registry import checks, methods
from assay.registry.cards import CHECKS, METHODS

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
TEXTS = ["a fine film", "the plot is dull and slow", "a very good cast", "not a bad script"]


def files() -> dict[str, str]:
    """The blocks of code on the page that begin with the name of their file; a script is no such file."""
    found = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, flags=re.DOTALL))
    return {name: source for name, source in found.items() if name != "in_a_notebook.py"}  # see tests/registry


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = tmp_path_factory.mktemp("newcomer")
    (place / "newcomers").mkdir()
    (place / "newcomers" / "__init__.py").touch()
    for name, source in files().items():
        (place / "newcomers" / name).write_text(source, encoding="utf-8")
    methods(), checks()  # all of ours are found once, and what is put back below must hold them
    before = dict(METHODS), dict(CHECKS), dict(table._ADDED)
    sys.path.insert(0, str(place))
    invalidate_caches()
    for name in files():
        import_module(f"newcomers.{name.removesuffix('.py')}")
    yield
    sys.path.remove(str(place))
    for registry, was in zip((METHODS, CHECKS, table._ADDED), before, strict=True):
        registry.clear()
        registry.update(was)  # type: ignore[arg-type]


def test_the_page_shows_four_files() -> None:
    assert sorted(files()) == ["common_words.py", "embedding_norm.py", "first_word.py", "one_sided.py"]


def test_the_method_explains() -> None:
    e = assay.explain(assay.load(tiny.bert()), TEXTS[1], "first_word")
    assert isinstance(e, assay.TokenScores)
    assert np.flatnonzero(e.scores).tolist() == [0]
    assert e.about.method == "first_word"


def test_the_method_describes() -> None:
    found = assay.describe(assay.load(tiny.bert()), TEXTS, "common_words", picks=2)
    assert found.kind == "Selection"
    assert len(found.chosen) == 2


def test_the_check_judges() -> None:
    (verdict,) = assay.check(assay.load(tiny.bert()), TEXTS, ["leave_one_out"], ["one_sided"], progress=False)
    assert verdict.check == "one_sided"
    assert verdict.random_scores.shape[0] == len(TEXTS)


def test_the_question_is_answered() -> None:
    model = assay.load(tiny.bert())
    e = assay.explain(model, TEXTS[0], "embedding_norm")
    rows = model.task.embedding.weight.detach().numpy()
    ids = model.tokenizer(TEXTS[0])["input_ids"][1:-1]
    assert e.scores.sum() == pytest.approx(float(np.linalg.norm(rows[ids], axis=1).sum()), rel=1e-5)
    with pytest.raises(assay.AssayError, match="asks for EmbeddingNorm, which the model"):
        assay.explain(
            assay.BlackBox(lambda texts: [[0.5, 0.5]] * len(texts), labels=["a", "b"]), "x y", "embedding_norm"
        )


def test_they_are_listed_like_any_other() -> None:
    assert {"first_word", "common_words", "embedding_norm"} <= methods().keys()
    assert "one_sided" in checks()
