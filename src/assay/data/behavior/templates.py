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
of ours, so that a file of a few lines extends it. Of all combinations at most `most` are taken, evenly spread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice, product
from typing import Any, NoReturn

import yaml

from assay.data.behavior.probes import DirectionProbe, LabelProbe, PreferenceProbe, Probe, ProbeGroup, SameProbe
from assay.errors import BadFile, UnknownName
from assay.text.opening import PathLike, opened

STARTERS = ("sentiment", "entailment", "reading", "language")
_HOLE = re.compile(r"\{([a-z_]+?)(\d*)\}")
_KEYS = {
    "ability",
    "case",
    "template",
    "label",
    "answer",
    "vary",
    "then",
    "direction",
    "tolerance",
    "rather_than",
    "wanted",
}
_CONSIDERED = 100_000  # combinations of words that a test may have


@dataclass(frozen=True)
class TemplateSuite:
    """The tests of a file and of the suites that it includes, and other names of labels."""

    name: str
    words: dict[str, list[str]] = field(default_factory=dict)
    tests: list[dict[str, Any]] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)

    def probes(self, most: int) -> Iterator[Probe]:
        """At most so many probes of each test."""
        for number, test in enumerate(self.tests, start=1):
            yield from self._test(test, f"test {number} ({test.get('case', 'without a case')})", most)

    def _test(self, test: dict[str, Any], where: str, most: int) -> Iterator[Probe]:
        if unknown := sorted(set(test) - _KEYS):
            raise UnknownName.of(f"key of {self.name}, {where},", unknown[0], _KEYS)
        templates, then = _pair(test.get("template")), _pair(test.get("then"))
        if not templates or not any(key in test for key in ("label", "answer", "vary", "then", "rather_than")):
            self._refuse(where, "needs a template, and a label, an answer, vary, then or rather_than")
        varied = test.get("vary")
        more = (str(test.get(key, "")) for key in ("label", "answer", "rather_than"))
        holes = _holes([*templates, *then, *more])
        if varied is not None and varied not in holes:
            self._refuse(where, f"varies {varied!r}, which is in none of its templates")
        fixed = [hole for hole in holes if hole != varied]
        for chosen in self._filled(fixed, where, most):
            yield self._probe(test, templates, then, chosen, where)

    def _filled(self, holes: list[str], where: str, most: int) -> Iterator[dict[str, str]]:
        """Words for the holes: combinations evenly spread over all of them, without a word twice."""
        combinations = product(*(self._list(hole, where) for hole in holes))
        valid = list(islice((choice for choice in combinations if len(set(choice)) == len(choice)), _CONSIDERED))
        for i in range(min(most, len(valid))):
            yield dict(zip(holes, valid[i * len(valid) // min(most, len(valid))], strict=True))

    def _list(self, hole: str, where: str) -> list[str]:
        name = hole.rstrip("0123456789")
        if name not in self.words:
            self._refuse(where, f"uses {{{hole}}}, for which `words` has no list")
        return self.words[name]

    def _probe(
        self, test: dict[str, Any], templates: list[str], then: list[str], chosen: dict[str, str], where: str
    ) -> Probe:
        name, case = str(test.get("ability", self.name)), str(test.get("case", ""))
        label = _fill(str(test.get("answer", test.get("label", ""))), chosen)
        if "rather_than" in test:
            return self._preference(test, templates, chosen, where)
        if then:
            direction, tolerance = test.get("direction"), test.get("tolerance", 0.0)
            if direction not in ("up", "down") or not isinstance(tolerance, int | float) or not label:
                self._refuse(where, "needs a label, direction: up or down, and a tolerance that is a number")
            group = ProbeGroup(name, case, "direction")
            before, after = _text(templates, chosen), _text(then, chosen)
            return DirectionProbe(group, before, after, label, direction == "up", float(tolerance))
        if (varied := test.get("vary")) is not None:
            group = ProbeGroup(name, case, "invariance")
            versions = (_text(templates, {**chosen, varied: word}) for word in self._list(varied, where))
            return SameProbe(group, tuple(versions))
        return LabelProbe(ProbeGroup(name, case, "minimum functionality"), _text(templates, chosen), label)

    def _preference(self, test: dict[str, Any], templates: list[str], chosen: dict[str, str], where: str) -> Probe:
        wanted = test.get("wanted", 1.0)
        if len(templates) != 1 or wanted not in (0.5, 1.0):
            self._refuse(where, "compares one sentence with another, of which a share of 1 or 0.5 is wanted")
        group = ProbeGroup(str(test.get("ability", self.name)), str(test.get("case", "")), "preference", float(wanted))
        return PreferenceProbe(group, _fill(templates[0], chosen), _fill(str(test["rather_than"]), chosen))

    def _refuse(self, where: str, what: str) -> NoReturn:
        raise BadFile(f"{self.name}, {where} {what}.")


def read_suite(path: PathLike) -> TemplateSuite:
    """The suite of a file, with those that it includes before its own tests."""
    with opened(path) as file:
        return _suite(file.read(), str(path))


def starter(name: str) -> TemplateSuite:
    """A suite of ours."""
    if name not in STARTERS:
        raise UnknownName.of("suite", name, STARTERS)
    return _suite((files("assay.data.behavior") / "suites" / f"{name}.yaml").read_text(encoding="utf-8"), name)


def _suite(string: str, name: str) -> TemplateSuite:
    try:
        data = yaml.safe_load(string)
    except yaml.YAMLError as error:
        raise BadFile(f"{name} is not YAML: {' '.join(str(error).split())[:160]}.") from error
    if not isinstance(data, dict) or not isinstance(tests := data.get("tests", []), list):
        raise BadFile(f"{name} must be a mapping with a list of tests.")
    if not all(isinstance(test, dict) for test in tests):
        raise BadFile(f"{name}: each test must be a mapping with ability, case, template and what is expected.")
    own = TemplateSuite(name, _lists(data, "words", name), tests, _lists(data, "labels", name))
    included = [starter(str(one)) for one in data.get("include", [])]
    for other in reversed(included):
        words, labels = {**other.words, **own.words}, {**other.labels, **own.labels}
        own = TemplateSuite(name, words, [*other.tests, *own.tests], labels)
    if not own.tests:
        raise BadFile(f"{name} holds no tests.")
    return own


def _lists(data: Mapping[str, Any], key: str, name: str) -> dict[str, list[str]]:
    found = data.get(key) or {}
    if not isinstance(found, dict) or not all(isinstance(one, list) and one for one in found.values()):
        raise BadFile(f"{name}: {key!r} must give each name a list.")
    return {str(one): [str(word) for word in listed] for one, listed in found.items()}


def _pair(template: Any) -> list[str]:
    return [] if template is None else [str(one) for one in template] if isinstance(template, list) else [str(template)]


def _holes(strings: list[str]) -> list[str]:
    return list(dict.fromkeys("".join(hole) for string in strings for hole in _HOLE.findall(string)))


def _text(templates: list[str], chosen: Mapping[str, str]) -> str | tuple[str, str]:
    filled = [_fill(template, chosen) for template in templates]
    return filled[0] if len(filled) == 1 else (filled[0], filled[1])


def _fill(template: str, chosen: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: chosen["".join(hole.groups())], template)
