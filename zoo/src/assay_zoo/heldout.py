"""Which public rows the bundled models never saw, decided by a hash of the text: no list is needed, and no order.

A premise belongs to the clean part of its SNLI split when its hash, read as a number in [0, 1), is under the split's
share: half of the test premises, and as many dev premises as hold 2,000 rows with human highlights. All hypotheses
of a clean premise are clean, and no model here was trained on a pair or a sentence of it.
"""

import hashlib
import re
from typing import Literal

Split = Literal["dev", "test"]
SNLI_SHARE: dict[Split, float] = {"dev": 0.315, "test": 0.5}
NOT_A_LETTER = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Letters and digits only, in lower case: equal for all the spacings and spellings of punctuation in use."""
    return NOT_A_LETTER.sub("", text.lower())


def position(text: str) -> float:
    """Where a text falls in [0, 1), by its hash."""
    digest = hashlib.sha256(normalise(text).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def is_clean_snli_premise(premise: str, split: Split = "test") -> bool:
    """Whether the pairs of this premise of SNLI dev or test were kept out of all training."""
    return position(premise) < SNLI_SHARE[split]
