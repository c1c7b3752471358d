"""The bars of a drawn histogram, read back from its SVG."""

from __future__ import annotations

import re

TALL = 136  # of the plot
BAR = re.compile(
    r'<path d="M ([\d.]+) ([\d.]+) \nL [\d.]+ [\d.]+ \nL [\d.]+ ([\d.]+) [^"]*"[^>]*fill: rgb\(var\(--(\w+)\)\)'
)


def bars(svg: str) -> list[tuple[float, float, float, str]]:
    """From where, from which height to which, and in which colour; what is empty has no height."""
    found = [(float(x), float(low), float(high), tone) for x, low, high, tone in BAR.findall(svg)]
    return [one for one in found if one[1] != one[2]]


def heights(svg: str) -> list[float]:
    return [low - high for _, low, high, _ in bars(svg)]


def unit(svg: str) -> float:
    """The height of one text: the plot is as tall as the number on its axis."""
    return TALL / max(int(number) for number in re.findall(r">(\d+)</text>", svg.partition(">texts<")[0]))
