"""Readers of published file formats, people's highlights, and corpora whose ground truth is known.

for example in sst.read("trees/dev.txt"): ...       rows with exact spans, from plain, .gz and .xz files alike
Highlights.read("esnli_dev.csv")                    what people marked, found again by the text
shortcuts.corpus(shortcuts.reviews(2000), shortcut) texts with a planted reason for their label
"""
