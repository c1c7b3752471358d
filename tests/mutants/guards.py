"""Which tests guard a line: those that ran it under `make coverage`, the likeliest to notice a fault first."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

from coverage import CoverageData

OUT = Path("out")
MOST_SECONDS = 40.0  # of tests for one fault, as long as they took under coverage
MOST_TESTS = 200


def core() -> list[str]:
    """The files of the numeric core, as pyproject.toml lists them."""
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]["run"]
    found = (path for pattern in settings["include"] for path in sorted(Path().glob(pattern)))
    return [str(path) for path in found if path.suffix == ".py"]


@dataclass(frozen=True)
class Guards:
    """The tests that ran each line of a file, and how long each test takes."""

    by_line: dict[int, set[str]]
    seconds: dict[str, float]
    path: str

    @classmethod
    def of(cls, path: str) -> Guards:
        data, seconds = _ran()
        name = next((file for file in data.measured_files() if file.endswith(path)), path)
        lines = data.contexts_by_lineno(name)
        by_line = {line: {c.removesuffix("|run") for c in found if c.endswith("|run")} for line, found in lines.items()}
        return cls(by_line, seconds, path)

    def tests(self, lines: Iterable[int]) -> list[str]:
        """The tests of a statement; of one that runs at import only, the tests that run anything of the file."""
        found = set[str]().union(*(self.by_line.get(line, ()) for line in lines))
        ordered = _in_turns(sorted(found or set().union(*self.by_line.values()), key=self._rank))
        chosen, spent = [], 0.0
        for test in ordered:
            spent += self._seconds(test)
            if chosen and (spent > MOST_SECONDS or len(chosen) >= MOST_TESTS):
                break
            chosen.append(test)
        return chosen

    def expected(self, tests: Iterable[str]) -> float:
        return sum(map(self._seconds, tests))

    def _seconds(self, test: str) -> float:
        return self.seconds.get(test, 0.5)

    def _rank(self, test: str) -> tuple[bool, bool, float, str]:
        """The tests named after the file come first, then those of its folder; among them the quickest."""
        file, folder = Path(test.split("::")[0]), Path(self.path).parts[2]
        return (Path(self.path).stem not in file.stem, folder not in file.parts, self._seconds(test), test)


def _in_turns(ordered: Sequence[str]) -> list[str]:
    """The first of each file, then the second: a line has more tests than are run, and those of a file are alike."""
    by_file: dict[str, list[str]] = {}
    for test in ordered:
        by_file.setdefault(test.split("::")[0], []).append(test)
    rounds = zip_longest(*by_file.values())
    return [test for one in rounds for test in one if test is not None]


@cache
def _ran() -> tuple[CoverageData, dict[str, float]]:
    """What `make coverage` left: lines by test, and seconds by test."""
    data = CoverageData(str(OUT / "coverage"))
    data.read()
    seconds = {}
    for report in sorted(OUT.glob("coverage*.xml")):
        for case in ElementTree.parse(report).iter("testcase"):
            file = case.attrib["classname"].replace(".", "/") + ".py"
            seconds[f"{file}::{case.attrib['name']}"] = float(case.attrib["time"])
    return data, seconds
