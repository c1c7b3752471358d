"""What does it know by layer? Probes of trees, on sentences of our own, and of the labels of the file."""

from __future__ import annotations

from assay.data.treebanks import BUNDLED
from assay.errors import AssayError
from assay.explanations.probe_scores import ProbeScores
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart

QUESTION = "What does it know by layer?"
_LEAST = 50  # labelled texts
_HEAD = ("layer", "depth in the tree", "random labels", "label of the text")
_SELECTIVE = 0.05  # by how much a probe must beat the one that learns random labels of words by heart


def layers(context: AuditContext) -> AuditPart:
    sizes = context.sizes
    plan = {"most": sizes.words, "steps": sizes.steps}
    trees: ProbeScores = context.described("structural_probe", task="depth", corpus=BUNDLED, **plan)
    found, left_out = [trees], []
    try:
        found.append(_labels(context))
    except AssayError as error:
        left_out.append(("the labels of the texts by layer", str(error)))
    shown = [trees.scores, trees.control, *(e.scores for e in found[1:])]
    names = ["embedding" if layer == 0 else f"layer {layer}" for layer in trees.layers]
    return AuditPart(
        "layers",
        QUESTION,
        f"Trees best at {names[trees.best]}" if _selective(trees) else "Nothing is shown of trees",
        " ".join(_sentences(found)),
        head=_HEAD[: 1 + len(shown)],
        rows=tuple((name, *(f"{values[i]:.2f}" for values in shown)) for i, name in enumerate(names)),
        described=tuple(found),
        left_out=tuple(left_out),
    )


def _labels(context: AuditContext) -> ProbeScores:
    rows = context.readable
    sample = context.sample_of(rows, [{"label": row.label or ""} for row in rows])
    found: ProbeScores = context.described("structural_probe", sample, task="label", steps=context.sizes.steps)
    return found


def _selective(e: ProbeScores) -> bool:
    """Whether more is read off than a probe learns by heart (Hewitt and Liang, 2019)."""
    return not len(e.control) or bool(e.scores[e.best] - e.control[e.best] > _SELECTIVE)


def _sentences(found: list[ProbeScores]) -> list[str]:
    made = []
    for e, what in zip(found, ("how deep a word lies in its tree", "the label of a text"), strict=False):
        where = "the embedding" if e.layers[e.best] == 0 else f"layer {e.layers[e.best]}"
        made.append(
            f"A linear probe reads {what} best off {where}: {e.scores[e.best]:.0%} right, where the most frequent "
            f"answer is right {e.majority:.0%} of the time."
        )
        if not _selective(e):
            made.append(
                f"But labels that were drawn at random for each word are learned as well ({e.control[e.best]:.0%}): "
                "words can be learned by heart, so that shows nothing."
            )
    return [*made, "What a layer knows says nothing of whether the model uses it."]
