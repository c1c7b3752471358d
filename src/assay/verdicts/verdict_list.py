"""A list of verdicts: an ordinary list, which is also a table, in pandas, in LaTeX and on a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.explanations.showable import Showable
from assay.statistics.verdict import Verdict
from assay.verdicts.left_out import LeftOut
from assay.verdicts.naming import method_titles
from assay.verdicts.standing import title_of

if TYPE_CHECKING:
    import pandas as pd

_SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
_COLUMNS = "method check mean random difference low high p_value ahead effect better verdict passed texts draws".split()


class Verdicts(Showable, list[Verdict]):
    """What every check says of every method; `left_out` are checks that could not be asked, and why."""

    left_out: tuple[LeftOut, ...] = ()

    def to_json(self) -> str:
        return json.dumps([v.to_dict() for v in self], ensure_ascii=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per verdict: means, difference to random with its interval, p, effect, and the sentence."""
        import pandas as pd  # slow to import, and only wanted here

        rows = [v.to_dict() | {"low": v.interval[0], "high": v.interval[1]} for v in self]
        return pd.DataFrame([{name: row[name] for name in _COLUMNS} for row in rows], columns=_COLUMNS)

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """A table for a paper, with the package booktabs; better than random is bold, and everything is escaped."""
        head = r"Method & Check & Score & Random & Difference [95\,\%] & $p$ & Ahead of \\"
        rules = [r"\toprule", head, r"\midrule", *self._rows(), r"\bottomrule"]
        table = [r"\begin{tabular}{llrrlrr}", *rules, r"\end{tabular}"]
        if not caption and not label:
            return "\n".join(table) + "\n"
        inner = [r"\centering", *table, *([rf"\caption{{{escaped(caption)}}}"] if caption else [])]
        inner += [rf"\label{{{label}}}"] if label else []
        return "\n".join([r"\begin{table}", *inner, r"\end{table}"]) + "\n"

    def _rows(self) -> Iterator[str]:
        for title, v in zip(method_titles(self), self, strict=True):
            low, high = v.interval
            difference = f"{_number(v.difference, '+')} [{_number(low, '+')}, {_number(high, '+')}]"
            score = rf"\textbf{{{_number(v.mean)}}}" if v.passed else _number(v.mean)
            arrow = r"$\uparrow$" if v.better == "higher" else r"$\downarrow$"
            cells = [escaped(title), f"{escaped(title_of(v))} {arrow}", score, _number(v.random), difference]
            yield (
                " & ".join(
                    [*cells, "$<0.001$" if v.p_value < 0.001 else f"${v.p_value:.3f}$", rf"{100 * v.ahead:.0f}\,\%"]
                )
                + r" \\"
            )

    def __repr__(self) -> str:
        head = f"{len(self)} verdict{'' if len(self) == 1 else 's'}"
        return "\n".join([head, *(f"  {v.brief}" for v in self), *(f"  {one}" for one in self.left_out)])

    def __str__(self) -> str:
        return repr(self)


def listed_verdicts(verdicts: Iterable[Verdict], left_out: Iterable[LeftOut] = ()) -> Verdicts:
    made = Verdicts(verdicts)
    made.left_out = tuple(left_out)
    return made


def escaped(text: str) -> str:
    """A string that LaTeX prints as it is."""
    return "".join(_SPECIAL.get(sign, sign) for sign in " ".join(text.split()))


def _number(value: float, sign: str = "") -> str:
    return f"${value:{sign}.3f}$"
