"""A list of explanations: an ordinary list, which shows, saves and draws itself as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.errors import BadInput
from assay.explanations.base import Explanation
from assay.explanations.showable import Showable
from assay.explanations.token_scores import TokenScores

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 5


class Explanations(Showable, list[Any]):
    """What a verb returns for many texts; where errors were kept, they stand in the places of their explanations."""

    @property
    def flat(self) -> list[Any]:
        """All explanations and errors; with target="all" those of the labels one after the other."""
        return [e for one in self for e in (one.flat if isinstance(one, Explanations) else [one])]

    @property
    def made(self) -> list[Explanation]:
        """The explanations, without the errors."""
        return [e for e in self.flat if isinstance(e, Explanation)]

    def to_json(self) -> str:
        """One list; an error is its message."""
        return json.dumps([_plain(one) for one in self], ensure_ascii=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per word of every text: the number of the text in the list, the label, the method, word and score."""
        import pandas as pd  # slow to import, and only wanted here

        frames = [
            e.to_frame().assign(text=i, label=e.label, method=e.about.method)
            for i, one in enumerate(self)
            for e in (one.flat if isinstance(one, Explanations) else [one])
            if isinstance(e, TokenScores)
        ]
        if not frames:
            raise BadInput("only scores of words make a table of words; there are none in this list.")
        return pd.concat(frames, ignore_index=True)[
            ["text", "method", "label", "word", "score", "start", "end", "field"]
        ]

    def __repr__(self) -> str:
        shown = ["  " + str(one).partition("\n")[0] for one in self[:_SHOWN]]
        more = [f"  and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([f"{len(self)} explanation{'' if len(self) == 1 else 's'}", *shown, *more])

    def __str__(self) -> str:
        return repr(self)


def _plain(one: Any) -> Any:
    if isinstance(one, Explanations):
        return [_plain(e) for e in one]
    return one.to_dict() if isinstance(one, Explanation) else {"error": str(one)}
