"""A method and a check defined in a script or a notebook, by the recipe of CONTRIBUTING; and their names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tiny

import assay
from assay.errors import BadInput, UnknownName
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions import Conversation, now
from assay.registry import Row, Uses, check, find_check, find_method, method
from assay.registry.cards import CHECKS, METHODS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    find_method("lime"), find_check("deletion")
    before = dict(METHODS), dict(CHECKS)
    yield
    for registry, was in zip((METHODS, CHECKS), before, strict=True):
        registry.clear()
        registry.update(was)  # type: ignore[arg-type]


def in_a_cell(cls: type) -> type:
    """The class as a notebook has it."""
    cls.__module__ = "__main__"
    return cls


def card(name: str | None = None) -> Any:
    facts: dict[str, Any] = {"row": Row.INPUT_FEATURES, "uses": Uses.BLACK_BOX, "paper": "none", "needs": ()}
    return lambda cls: method(title="Mine", name=name, **facts)(in_a_cell(cls))


def defined(worth: float, name: str | None = None, class_name: str = "MyWords") -> type:
    """One run of the cell that defines a method."""

    def explain(self: Any, case: Case) -> Conversation[TokenScores]:
        return now(TokenScores(case, [worth] * len(case.text)))

    made = dataclass(frozen=True, kw_only=True)(type(class_name, (), {"explain": explain, "__doc__": "Mine alone."}))
    return card(name)(made)  # type: ignore[no-any-return]


def test_the_script_of_the_page_runs(tmp_path: Path) -> None:
    script = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, flags=re.DOTALL))["in_a_notebook.py"]
    file = tmp_path / "in_a_notebook.py"
    file.write_text(script + "\nimport json; print(json.dumps([e.about.method, [v.check for v in verdicts]]))\n")
    found = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[-1]) == ["last_word", ["one_word"]]


def test_a_cell_run_again_replaces_what_it_defined() -> None:
    first, second = defined(1.0), defined(2.0)
    assert find_method("my_words").make_from is second
    assert assay.explain(tiny.bert(), "a film", "my_words").scores.tolist() == [2.0, 2.0]
    with pytest.raises(UnknownName, match="use the new one"):
        assay.explain(tiny.bert(), "a film", first())
    assert find_method("my_words").summary == "Mine alone."


def test_a_name_of_its_own_and_the_class_itself_will_do() -> None:
    cls = defined(1.0, name="words_of_mine")
    assert assay.explain(tiny.bert(), "a film", "words_of_mine").about.method == "words_of_mine"
    assert assay.explain(tiny.bert(), "a film", cls).about.method == "words_of_mine"
    found = assay.describe(tiny.bert(), ["a film", "a plot", "a cast"], "sp_lime", of=cls(), picks=1, progress=False)
    assert found.about.parameters["of"] == "words_of_mine"


@pytest.mark.parametrize("given", [{"name": "lime"}, {"class_name": "LeaveOneOut"}])
def test_the_name_of_a_bundled_method_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match="comes with Assay; choose another"):
        defined(1.0, **given)
    assert find_method("lime").make_from.__module__.startswith("assay.")


def test_the_name_of_a_bundled_check_is_refused_before_the_checks_were_ever_listed() -> None:
    code = """if True:
        from dataclasses import dataclass
        from assay.registry import check
        try:
            @check(title="Mine", name="deletion", better="higher", paper="", needs=(), sensitive_to="")
            @dataclass(frozen=True, kw_only=True)
            class Mine:
                def examine(self, e): ...
        except Exception as error:
            print(error)
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "a check called deletion comes with Assay" in found.stdout, found.stderr


def test_what_is_no_method_is_refused_with_what_is_missing() -> None:
    with pytest.raises(BadInput, match="above @dataclass"):
        card()(type("Bare", (), {"explain": lambda self, case: None}))
    with pytest.raises(BadInput, match="needs explain"):
        card()(dataclass(type("Empty", (), {})))
    with pytest.raises(BadInput, match="small letters"):
        defined(1.0, name="My words")


def test_settings_beside_an_object_are_refused_and_not_forgotten() -> None:
    with pytest.raises(BadInput, match="samples cannot be set beside a lime"):
        assay.explain(tiny.bert(), "a film", find_method("lime").make(), samples=10)


def test_a_package_does_not_take_the_name_of_another() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Mine:
        """Mine."""

        def examine(self, e: TokenScores) -> Conversation[float]:
            return now(0.5)

    facts: dict[str, Any] = {"better": "higher", "paper": "", "needs": (), "sensitive_to": ""}
    Mine.__module__ = "theirs.flatness"
    check(title="Theirs", **facts)(Mine)
    other = dataclass(frozen=True)(type("Other", (), {"examine": Mine.examine, "__module__": "others.flatness"}))
    with pytest.raises(BadInput, match=r"registered already, by theirs\.flatness"):
        check(title="Others", **facts)(other)
