"""Where one method stands: its maps, the verdicts on them, and what these come to in one plain sentence.

Tests are the checks in which random maps are an opponent, and a test counts if it can tell: on a short text so many
random maps are as good as a map can be that no map is better than random. A test that takes words away as the method
does favours it (Pham et al. 2022, section 4), so a method that shines in such tests alone is believed less. Other
checks are shown and not counted: that a map adds up or holds still is no proof of it, and random maps do neither.
Randomization (Adebayo et al. 2018, arXiv:1810.03292) gives flaws: a map that stays much the same when the weights are
random is not about them; one that does not change at all with a new head knows nothing of the label. A method with a
flaw is at most a hint. What stays in part is a warning only.

Most tests look at the few first words alone. Of n words a random map has the right one first once in n, and then it
passes all of these together, for they are not independent. Infidelity asks for all scores. So on one text it takes half
of the tests, and to be ahead of 98 % of random maps in infidelity (`benchmarks/random_cards.py` counts how often random
maps get through). Where infidelity was not asked, and over several texts, it takes three quarters of the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict
from assay.verdicts.check_titles import listed as listed
from assay.verdicts.check_titles import title_of as title_of

Level = Literal["yes", "partly", "no", "open"]

SANITY = "randomization"
CHANCE = 0.05
_UNCOUNTED = ("completeness", "stability", "sensitivity")
_FEW, _UNSETTLED = "too few samples", "unconverged"
_MOST, _HALF, _LEANING = 0.75, 0.5, 0.2
_ALL_SCORES, _CLEAR = "infidelity", 0.02  # the test that every score of a map enters, and the p-value that it takes
_MUCH, _ALL = 0.7, 0.999  # rank correlation from which two maps are much the same, and the same
_SHAKY = 0.5  # rank correlation below which a map does not outlive changes without meaning
_TOO_SHORT = "the text is too short for this test: many random maps are as good as any map can be"


@dataclass(frozen=True, eq=False)
class Standing:
    """A method with its parameters (`name` tells it from the same method with others), its maps, and the verdicts."""

    name: str
    title: str
    explanations: tuple[TokenScores, ...]
    verdicts: tuple[Verdict, ...] = ()
    unit: str = "word"  # what a score is of

    @property
    def first(self) -> TokenScores:
        return self.explanations[0]

    @property
    def tests(self) -> list[Verdict]:
        """The verdicts in which random maps are an opponent."""
        return [v for v in self.verdicts if v.chance == "beat" and v.check not in _UNCOUNTED]

    @property
    def besides(self) -> list[Verdict]:
        """The verdicts that are shown and not counted."""
        return [v for v in self.verdicts if v not in self.tests]

    @cached_property
    def telling(self) -> list[Verdict]:
        """The tests that these texts can decide."""
        return [v for v in self.tests if tells(v)]

    @property
    def silent(self) -> list[Verdict]:
        return [v for v in self.tests if v not in self.telling]

    @property
    def passed(self) -> list[Verdict]:
        return [v for v in self.telling if v.passed]

    @property
    def favoured(self) -> list[Verdict]:
        """Tests that take words away as the method does."""
        eraser = self.first.about.parameters.get("eraser")
        return [v for v in self.telling if eraser is not None and eraser == v.parameters.get("eraser")]

    @property
    def fair(self) -> list[Verdict]:
        return [v for v in self.telling if v not in self.favoured]

    @property
    def share(self) -> float:
        return len(self.passed) / len(self.telling) if self.telling else 0.0

    @property
    def failed(self) -> list[Verdict]:
        """Checks that random maps pass by construction, and this method does not."""
        return [v for v in self.verdicts if v.chance == "reach" and not v.passed]

    @property
    def rootless(self) -> bool:
        """Whether the map stays much the same when the weights are random."""
        return any(v.check == SANITY and v.mean >= _MUCH and not head_only(v) for v in self.failed)

    @property
    def labelless(self) -> bool:
        """Whether the map is the same under another head, that is, for any label."""
        return any(head_likeness(v) >= _ALL for v in self.verdicts if v.check == SANITY and tells(v))

    @property
    def unsettled(self) -> bool:
        """Whether the method says of most of its maps that more work would change them."""
        return self._mostly(_UNSETTLED)

    @property
    def too_few_samples(self) -> bool:
        """Whether it says of most of its maps that it had too few samples for so many words."""
        return self._mostly(_FEW)

    @property
    def single_words(self) -> bool:
        """Whether no text has more than one word, so that every map is the same."""
        return all(len(e.text) == 1 for e in self.explanations)

    def _mostly(self, warning: str) -> bool:
        warned = [any(one.startswith(warning) for one in e.warnings) for e in self.explanations]
        return 2 * sum(warned) > len(warned)

    @property
    def one_sided(self) -> bool:
        """Whether it fails every test that does not favour it; of one text by far, as a narrow miss shows little."""
        near = len(self.explanations) == 1
        good = any(v.passed or (near and v.p_value <= _LEANING) for v in self.fair)
        return 0 < len(self.fair) < len(self.telling) and not good

    @property
    def thin(self) -> bool:
        """Whether most of its tests cannot tell."""
        return 2 * len(self.telling) < len(self.tests)

    @cached_property
    def level(self) -> Level:
        """Does it pass the tests: yes, partly, no; `open` where they cannot tell, or another run may say otherwise."""
        if self.single_words or (self.too_few_samples and self.share >= _HALF):
            return "open"
        if not self.telling or self.share < _HALF:
            return "open" if self.thin or not self.telling else "no"
        flawed = self.rootless or self.labelless or self.one_sided or self.unsettled or self.thin
        return "yes" if self.convincing and not flawed else "partly"

    @property
    def convincing(self) -> bool:
        """Whether it passes as many tests, and as clearly, as random maps hardly ever do."""
        whole = [v for v in self.telling if v.check == _ALL_SCORES and len(self.explanations) == 1]
        # Of few random maps it must be ahead of all.
        clear = all(v.p_value <= max(_CLEAR, 1 / (1 + v.random_scores.shape[1])) for v in whole)
        return self.share >= (_HALF if whole else _MOST) and clear

    @cached_property
    def rank(self) -> tuple[int, int, float, float]:
        """The order of methods, best first: by belief, failed sanity checks, share of tests, lead over random maps."""
        leads = [v.ahead for v in self.telling]
        order: tuple[Level, ...] = ("yes", "partly", "open", "no")
        return order.index(self.level), len(self.failed), -self.share, -float(np.mean(leads)) if leads else 0.0

    @property
    def sentence(self) -> str:
        """The verdict on this method."""
        if self.verdicts and self.single_words:
            return "Nothing to test: every map of a single word says the same."
        return f"{self.count}{_therefore(self)}." if self.verdicts else "Not tested."

    @property
    def count(self) -> str:
        """How many tests it passed."""
        tests, good = len(self.telling), len(self.passed)
        bad = sum(v.worse_than_random for v in self.telling)
        only = "its only test" if len(self.tests) == 1 else "the only test that can tell"
        if not tests:
            return "No test can tell it from random here"
        if not good:
            where = only if tests == 1 else f"any of {tests} tests"
            return f"Not better than random in {where}" + (f", worse in {bad}" if bad else "")
        if good < tests:
            return f"Better than random in {good} of {tests} tests" + (f", worse in {bad}" if bad else "")
        return f"Better than random in {only if tests == 1 else f'all {tests} tests'}"

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What to know of this method, each once."""
        return tuple(_cautions(self))

    def to_dict(self) -> dict[str, Any]:
        about = self.first.about
        return {
            "name": self.name,
            "title": self.title,
            "method": about.method,
            "parameters": dict(about.parameters),
            "trust": self.level,
            "sentence": self.sentence,
            "passed": [title_of(v) for v in self.passed],
            "tests": [title_of(v) for v in self.telling],
            "cannot_tell": [title_of(v) for v in self.silent],
            "warnings": list(self.cautions),
            "explanations": [e.to_dict() for e in self.explanations],
            "verdicts": [v.to_dict() for v in self.verdicts],
        }


def _therefore(standing: Standing) -> str:
    """What the reader is to make of it."""
    if standing.too_few_samples:
        few = f"too few samples for so many {standing.unit}s"
        return f"; but it had {few}, and another run may say otherwise: give it more"
    if standing.level == "open":
        return "; the other tests cannot tell" if standing.telling else ": the text is too short for these tests"
    if standing.level == "no":
        return ": do not read it as a reason"
    if standing.rootless:
        return "; but it stays much the same when the model's weights are random: take it as a hint"
    if standing.labelless:
        return "; but it is the same under a random head: it may show what matters, not why this label"
    if standing.unsettled:
        return "; but its scores have not settled: give it more work before you rely on it"
    if standing.one_sided:
        return "; but only where words are taken away as the method does it: take it as a hint"
    if standing.share >= _MOST and not standing.convincing:
        return "; but not clearly in infidelity, which asks for all its scores: take it as a hint"
    words = f"{standing.unit}s"
    return f"; its strongest {words} are {words} the model uses" if standing.level == "yes" else "; take it as a hint"


def _cautions(standing: Standing) -> Iterator[str]:
    for v in standing.failed:
        yield _failure(standing, v)
    if standing.favoured:
        yield same_eraser(standing)
    for v in standing.verdicts:
        if v.check == "stability" and v.mean < _SHAKY:
            yield f"unsteady: small edits that keep the meaning change the order of the words (stability {v.mean:.2f})"
    for warning in dict.fromkeys(one for e in standing.explanations for one in e.warnings):
        yield warning + _how_often(standing, warning)
    if standing.silent and not standing.single_words:
        yield f"{listed([title_of(v) for v in standing.silent])} cannot tell: {_TOO_SHORT}"


def _failure(standing: Standing, v: Verdict) -> str:
    if v.check != SANITY:
        return f"fails {title_of(v).lower()}: {v.mean:.2f} where random maps get {v.random:.2f}"
    where = "a random head" if head_only(v) else "random weights"
    kept = "stays much the same" if v.mean >= _MUCH else "keeps some of its order"
    alike = f"rank correlation {v.mean:.2f} where unrelated maps have {v.random:.2f}"
    return f"fails its sanity check: with {where} in the model the map {kept} ({alike})"


def head_only(v: Verdict) -> bool:
    """Whether only the head was random; that alone does not convict a method, for a new head may read the same."""
    return bool(v.parameters.get("part", "cascade") != "cascade")


def head_likeness(v: Verdict) -> float:
    """How much of the map stays under a random head."""
    return v.mean if head_only(v) else v.facts.get("similarity_0", 0.0)


def _how_often(standing: Standing, warning: str) -> str:
    texts = len(standing.explanations)
    return f" ({sum(warning in e.warnings for e in standing.explanations)} of {texts} texts)" if texts > 1 else ""


def same_eraser(standing: Standing) -> str:
    """With what the tests say that erase in another way."""
    eraser = standing.favoured[0].parameters["eraser"]
    others = [v for v in standing.fair if "eraser" in v.parameters]
    others_say = ", ".join(f"{title_of(v).lower()} does not, and there it is {v.sentence}" for v in others)
    many, tests = len(standing.favoured), len(standing.tests)
    some = f"{many} of {tests} tests erase{'' if many > 1 else 's'}" if tests > 1 else "its test erases"
    advice = others_say or "compare with another eraser"
    return f"same eraser: {some} words as it does ({eraser}), which favours it; {advice}"


def tells(v: Verdict) -> bool:
    """Whether the best map there is would be better than random: not if chance is likely to find one as good.

    Where random maps win by construction, whether the worst map would be found out.
    """
    values = np.column_stack([*_turned(v)]) * (1 if v.chance == "beat" else -1)
    slack = 1e-9 * max(1.0, float(np.abs(values).max()))
    as_good = (values >= values.max(axis=1, keepdims=True) - slack).mean(axis=1)
    return bool(np.prod(as_good) <= CHANCE)


def _turned(v: Verdict) -> tuple[Floats, Floats]:
    """Scores and random scores, more being better."""
    sign = 1 if v.better == "higher" else -1
    return sign * v.scores[:, None], sign * v.random_scores
