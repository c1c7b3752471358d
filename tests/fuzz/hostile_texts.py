"""Texts that mean harm or make no sense: all scripts, unseen signs, markup, special tokens, giant words."""

from __future__ import annotations

import random
from collections.abc import Callable

# A stretch of characters of each script; some of its places are not assigned, which texts may hold as well.
_SCRIPTS = {
    "latin": (0x0041, 0x017F),
    "greek": (0x0370, 0x03FF),
    "cyrillic": (0x0400, 0x04FF),
    "armenian": (0x0530, 0x058F),
    "hebrew": (0x0590, 0x05FF),
    "arabic": (0x0600, 0x06FF),
    "devanagari": (0x0900, 0x097F),
    "tamil": (0x0B80, 0x0BFF),
    "thai": (0x0E00, 0x0E7F),
    "tibetan": (0x0F00, 0x0FFF),
    "hangul": (0xAC00, 0xD7A3),
    "kana": (0x3040, 0x30FF),
    "han": (0x4E00, 0x9FFF),
    "wide": (0xFF00, 0xFFEF),
    "cuneiform": (0x12000, 0x1236E),
    "mathematical": (0x1D400, 0x1D7FF),
    "adlam": (0x1E900, 0x1E95F),
    "private": (0xE000, 0xE0FF),
}
_PLAIN = "a the film good dull not never funny plot it 's 12 , . ! ? ( )".split()
_EMOJI = ["🙂", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "1️⃣", "🧑🏿‍🚀", "\u200d\u200d", "🎬🎬"]
_SPECIAL = (
    "[MASK] [CLS] [SEP] [PAD] [UNK] <mask> <s> </s> <pad> <unk> <|im_start|> <|im_end|> <|endoftext|> ▁ ## Ġ @@".split()
)
_MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</p></div></style></title></head><x-evil>",
    "<!-- ",
    "-->",
    "<![CDATA[",
    "&lt;script&gt;",
    "&#x3c;b&#x3e;",
    "javascript:alert(1)",
    "{{ 7*7 }}",
    "{% raw %}",
    "${7*7}",
    "expression(alert(1))",
    "</textarea><iframe src=//x>",
    "<style>*{display:none}</style>",
    "=cmd|'/c calc'!A1",
    "%s%n %x {0} {name}",
]
_CONTROLS = [chr(code) for code in (*range(32), *range(0x7F, 0xA0))]
_DIRECTIONS = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)]
_UNSEEN = ["\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u180e", "\u3164", "\U000e0041", "\u034f"]
_BLANKS = [" ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2028", "\u2029", "\x0b", "\x85"]
_ESCAPES = ["\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x1bP$q\x1b\\", "\r\rassay: fine"]


def _some(signs: list[str], most: int, between: str = "") -> Callable[[random.Random], str]:
    return lambda rng: between.join(rng.choices(signs, k=rng.randint(1, most)))


def _script(rng: random.Random) -> str:
    first, last = rng.choice([*_SCRIPTS.values()])
    words = ("".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8))) for _ in range(rng.randint(1, 5)))
    return " ".join(words)


def _anything(rng: random.Random) -> str:
    """Any code points but surrogates."""
    return "".join(chr(rng.choice((rng.randint(0, 0xD7FF), rng.randint(0xE000, 0x10FFFF)))) for _ in range(12))


def _giant(rng: random.Random) -> str:
    """One word that fills any window."""
    return rng.choice(["a", "é", "ж", "١", "ש"]) * 10_000


def _stacked(rng: random.Random) -> str:
    """A letter under many marks."""
    return "e" + "".join(chr(rng.randint(0x0300, 0x036F)) for _ in range(rng.randint(1, 60)))


# How to make a part of a text, and how often.
_PARTS: list[tuple[Callable[[random.Random], str], float]] = [
    (_some(_PLAIN, 8, " "), 6),
    (_script, 5),
    (_some(_EMOJI, 4), 2),
    (_some(_SPECIAL, 3, " "), 3),
    (_some(_MARKUP, 2, " "), 3),
    (_some(_CONTROLS, 4), 2),
    (_some(_DIRECTIONS, 3), 2),
    (_some(_UNSEEN, 4), 2),
    (_some(_BLANKS, 4), 2),
    (_some(_ESCAPES, 2), 2),
    (_anything, 2),
    (_stacked, 1),
    (_giant, 0.15),
    (lambda rng: chr(rng.randint(0xD800, 0xDFFF)), 0.5),
    (lambda rng: "", 1),
]


def hostile(rng: random.Random) -> str:
    """One text of a few parts; now and then it has no word at all."""
    makers, weights = zip(*_PARTS, strict=True)
    parts = rng.choices(makers, weights, k=rng.randint(1, 5))
    return rng.choice(["", " ", " ", "\n"]).join(make(rng) for make in parts)
