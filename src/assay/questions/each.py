"""Conversations that open conversations.

    maps = yield Each(method.explain(case) for case in cases)          -> their results, in order
    total = yield Each(conversations, fold=add, start=0.0)              -> folded one by one; nothing else is kept

The children join the engine's rounds beside all others, so they are batched across parents too. They are drawn lazily,
as there is room for them; what they cost is added to what the parent costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.questions.base import Conversation, Inquiry, elsewhere


class Each(Inquiry):
    """The results of many conversations, in their order.

    The first error of a child is raised in the parent, and the children after it are not led to their end. With
    `keep_errors` the error stands in the place of the result instead. `fold(so_far, result)` is called with each result
    in turn, beginning with `start`; without it the answer is a list.
    """

    def __init__(
        self,
        conversations: Iterable[Conversation[Any]],
        *,
        fold: Callable[[Any, Any], Any] | None = None,
        start: Any = None,
        keep_errors: bool = False,
    ) -> None:
        self.conversations, self.fold, self.start, self.keep_errors = conversations, fold, start, keep_errors

    def sent_to(self, model: str) -> Each:
        """Each of the children is sent there."""
        return self.with_children(lambda child: elsewhere(child, model))

    def with_children(self, change: Callable[[Conversation[Any]], Conversation[Any]]) -> Each:
        """The same with each of the children changed, when it is drawn."""
        return Each(map(change, self.conversations), fold=self.fold, start=self.start, keep_errors=self.keep_errors)
