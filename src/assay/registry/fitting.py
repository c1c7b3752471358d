"""What fits together is found out before any work is done: methods and checks, methods and what they are given."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from assay.errors import BadInput
from assay.explanations.base import Explanation
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import checks as checks_by_name
from assay.registry.protocols import Check, Method
from assay.text.sample import NO_SAMPLE


def require_sample(methods: Iterable[tuple[MethodCard, Method]], texts: object) -> None:
    """An error where there is no sample, and a method needs one."""
    needing = [card.name for card, _ in methods if not card.alone]
    if texts is NO_SAMPLE and needing:
        raise BadInput(f"{needing[0]} describes what a model does with texts; give a sample of them (--file F).")


def require_readable(
    methods: Iterable[tuple[MethodCard, Method]], checks: Iterable[tuple[CheckCard, Check[Any]]]
) -> None:
    """An error where a check reads another kind of explanation than a method returns."""
    for (method, _), (check, _) in product(methods, checks):
        require_kind(method.name, method.returns, check)


def require_kind(method: str, returned: type[Explanation], check: CheckCard) -> None:
    """An error where a check does not read what a method of this name returned."""
    if not issubclass(returned, check.reads):
        fit = [name for name, card in checks_by_name().items() if issubclass(returned, card.reads)]
        others = f" Checks for it: {', '.join(fit)}." if fit else ""
        raise BadInput(f"{check.name} reads {check.reads.__name__}, but {method} returns {returned.__name__}.{others}")


def any_readable(methods: Iterable[tuple[MethodCard, Method]], checks: Iterable[tuple[CheckCard, Check[Any]]]) -> bool:
    """Whether one of the checks reads what one of the methods returns."""
    return any(issubclass(method.returns, check.reads) for (method, _), (check, _) in product(methods, checks))
