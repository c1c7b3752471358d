"""The table of an audit, the same on the page and in the terminal: a row for all texts and one for each label."""

from __future__ import annotations

from collections.abc import Iterator

from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.summary import FAR, Correlation, Group

MOST = 8  # labels that get a row
HEAD = (
    "predicted",
    "texts",
    "τ attention, gradient",
    "τ attention, leave-one-out",
    "τ gradient, leave-one-out",
    "largest weight",
    "median TVD",
    "ε-max JSD",
    f"JSD > {FAR}",
)
KEY = "τ: mean ± standard deviation over texts, the share with p ≤ .05, and in brackets how many have none."


def table(audit: AttentionAudit) -> Iterator[tuple[str, ...]]:
    """All texts, each predicted label, and what a random attention would have."""
    for group in audit.groups[: MOST + 1]:
        yield _row(group)
    random = audit.all.correlations
    floor = (_tau(random["random_gradient"]), _tau(random["random_loo"]))
    yield ("random attention", f"{len(audit):,}", *floor, "", "", "", "", "")


def _row(group: Group) -> tuple[str, ...]:
    taus = (_tau(group.correlations[name]) for name in ("attention_gradient", "attention_loo", "gradient_loo"))
    numbers = (f"{n.value:.2f}" for n in (group.max_attention, group.median_tvd, group.jsd))
    return (group.label or "all", f"{group.texts:,}", *taus, *numbers, f"{group.far.value:.0%}")


def _tau(found: Correlation) -> str:
    gone = f" ({found.undefined})" if found.undefined else ""
    if found.mean is None or found.significant is None:
        return f"–{gone}"
    return f"{round(found.mean.value, 2) + 0.0:.2f} ± {found.std:.2f}, {found.significant.value:.0%}{gone}".replace(
        "-", "−"
    )
