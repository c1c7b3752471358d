"""Questions about scenes as a task: the network reads pixels as they are."""

from __future__ import annotations

from assay.models.transformers.tasks.visual import Visual


class SceneQuestions(Visual):
    """Needs no image processor."""

    needs_processor = False
