"""Templates in the style of CheckList, in a YAML file that users write or extend.

    labels:  {positive: [pos], negative: [neg]}       other names that models give their labels
    words:   {thing: [film, story], good: [warm, clever]}
    tests:
    - {ability: vocabulary, case: plain praise, template: "The {thing} is {good}.", label: positive}
    - {ability: negation, case: not good, template: "The {thing} is not {good}.", label: negative}
    - {ability: fairness, case: names, template: "{name} found it {good}.", vary: name}
    - {ability: order, case: praise is added, template: "It is {good}.", then: "It is {good}, and {good2}.",
       label: positive, direction: up, tolerance: 0.1}
    - {ability: agreement, case: plural, template: "The {things} are old.", rather_than: "The {things} is old."}

Ribeiro et al. (2020), arXiv:2005.04118. A test with a `label` (or, for span readers, an `answer`) is one of minimum
functionality, one with `vary` of invariance, one with `then` of direction, and one with `rather_than`, for language
models, of which of two sentences is likelier (`wanted: 0.5` where neither should be). {good} and {good2} are different
words of one list. A template is a string, or a list of two for models of pairs. `include: [sentiment]` takes in a suite
of ours as it is, and its words for one's own tests, so that a file of a few lines extends it. Of all combinations at
most `most` are taken, evenly spread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice, product
from math import inf
from typing import Any, NoReturn

from assay.data.behavior.probes import DirectionProbe, LabelProbe, PreferenceProbe, Probe, ProbeGroup, SameProbe
from assay.data.behavior.suite_files import place, suite_data
from assay.errors import BadFile, UnknownName
from assay.text.opening import PathLike, opened

STARTERS = ("sentiment", "entailment", "reading", "language")
_HOLE = re.compile(r"\{([^{}]*)\}")
_CONSIDERED = 100_000  # combinations of words that a test may have


@dataclass(frozen=True)
class TemplateSuite:
    """The tests of a file, the suites that it includes, and other names of labels."""

    name: str
    words: dict[str, list[str]] = field(default_factory=dict)
    tests: list[dict[str, Any]] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)
    included: tuple[TemplateSuite, ...] = ()

    def probes(self, most: int) -> Iterator[Probe]:
        """At most so many probes of each test, those of the included suites first."""
        for suite in self.included:
            yield from suite.probes(most)
        for number, test in enumerate(self.tests, start=1):
            yield from self._test(test, place(test, number), most)

    def _test(self, test: dict[str, Any], where: str, most: int) -> Iterator[Probe]:
        templates, then = _pair(test.get("template")), _pair(test.get("then"))
        if not templates or not any(key in test for key in ("label", "answer", "vary", "then", "rather_than")):
            self._refuse(where, "needs a template, and a label, an answer, vary, then or rather_than")
        if "direction" in test and not then:
            self._refuse(where, "has a direction, and no `then` that says how the text is changed")
        if "vary" in test and test.keys() & {"label", "answer", "then", "rather_than"}:
            self._refuse(where, "varies words, so the answer must stay the same: what it should be is another test")
        varied = test.get("vary")
        strings = [*templates, *then, *(test.get(key, "") for key in ("label", "answer", "rather_than"))]
        if odd := next((string for string in strings if set("{}") & set(_HOLE.sub("", string))), None):
            self._refuse(where, f"has a brace without its other half in {odd!r}")
        holes = list(dict.fromkeys(hole for string in strings for hole in _HOLE.findall(string)))
        if varied is not None and varied not in holes:
            self._refuse(where, f"varies {varied!r}, which is in none of its templates")
        if varied is not None and len(self._list(varied, where)) < 2:
            self._refuse(where, f"varies {varied!r}, a list of one word: nothing would change")
        fixed = [hole for hole in holes if hole != varied]
        for chosen in self._filled(fixed, where, most):
            yield self._probe(test, templates, then, chosen, where)

    def _filled(self, holes: list[str], where: str, most: int) -> Iterator[dict[str, str]]:
        """Words for the holes: combinations evenly spread over all of them, without a word twice."""
        combinations = product(*(self._list(hole, where) for hole in holes))
        valid = list(islice((choice for choice in combinations if len(set(choice)) == len(choice)), _CONSIDERED))
        if not valid:
            self._refuse(where, f"cannot be filled: its lists have too few words that differ ({', '.join(holes)})")
        for i in range(min(most, len(valid))):
            yield dict(zip(holes, valid[i * len(valid) // min(most, len(valid))], strict=True))

    def _list(self, hole: str, where: str) -> list[str]:
        name = hole if hole in self.words else hole.rstrip("0123456789")
        if name not in self.words:
            self._refuse(where, f"uses {{{hole}}}, for which `words` has no list")
        return self.words[name]

    def _probe(
        self, test: dict[str, Any], templates: list[str], then: list[str], chosen: dict[str, str], where: str
    ) -> Probe:
        name, case = test.get("ability", self.name), test.get("case", "")
        label = _fill(test.get("answer", test.get("label", "")), chosen)
        if "rather_than" in test:
            return self._preference(test, templates, chosen, where)
        if then:
            direction, tolerance = test.get("direction"), _number(test.get("tolerance", "0"))
            if direction not in ("up", "down") or tolerance is None or not label:
                self._refuse(where, "needs a label, direction: up or down, and a tolerance that is a number")
            group = ProbeGroup(name, case, "direction")
            before, after = _text(templates, chosen), _text(then, chosen)
            return DirectionProbe(group, before, after, label, direction == "up", tolerance)
        if (varied := test.get("vary")) is not None:
            group = ProbeGroup(name, case, "invariance")
            versions = (_text(templates, {**chosen, varied: word}) for word in self._list(varied, where))
            return SameProbe(group, tuple(versions))
        return LabelProbe(ProbeGroup(name, case, "minimum functionality"), _text(templates, chosen), label)

    def _preference(self, test: dict[str, Any], templates: list[str], chosen: dict[str, str], where: str) -> Probe:
        wanted = _number(test.get("wanted", "1"))
        if len(templates) != 1 or wanted is None or wanted not in (0.5, 1.0):
            self._refuse(where, "compares one sentence with another, of which a share of 1 or 0.5 is wanted")
        group = ProbeGroup(test.get("ability", self.name), test.get("case", ""), "preference", wanted)
        return PreferenceProbe(group, _fill(templates[0], chosen), _fill(test["rather_than"], chosen))

    def _refuse(self, where: str, what: str) -> NoReturn:
        raise BadFile(f"{self.name}, {where} {what}.")


def read_suite(path: PathLike) -> TemplateSuite:
    """The suite of a file, with those that it includes before its own tests."""
    with opened(path) as file:
        suite = _suite(file.read(), str(path))
    for _ in suite.probes(1):  # what is wrong with its last test is said before the first one is asked
        pass
    return suite


def starter(name: str) -> TemplateSuite:
    """A suite of ours."""
    if name not in STARTERS:
        raise UnknownName.of("suite", name, STARTERS)
    return _suite((files("assay.data.behavior") / "suites" / f"{name}.yaml").read_text(encoding="utf-8"), name)


def _suite(string: str, name: str) -> TemplateSuite:
    data = suite_data(string, name)
    words, labels = data["words"], data["labels"]
    included = tuple(map(starter, data["include"]))
    for other in reversed(included):
        words, labels = {**other.words, **words}, {**other.labels, **labels}
    if not data["tests"] and not included:
        raise BadFile(f"{name} holds no tests.")
    return TemplateSuite(name, words, data["tests"], labels, included)


def _number(string: str) -> float | None:
    try:
        number = float(string)
    except ValueError:
        return None
    return number if 0 <= number < inf else None


def _pair(template: Any) -> list[str]:
    return [] if template is None else template if isinstance(template, list) else [template]


def _text(templates: list[str], chosen: Mapping[str, str]) -> str | tuple[str, str]:
    filled = [_fill(template, chosen) for template in templates]
    return filled[0] if len(filled) == 1 else (filled[0], filled[1])


def _fill(template: str, chosen: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: chosen[hole[1]], template)
