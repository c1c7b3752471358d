"""Generated scenes (images.py), and a small network that answers questions about them.

    assay.explain(model, ("what color is the circle ?", "scene:rc----bs--gt------"), "leave_one_out")

A scene is an image by its name, for every visual model once this package is imported.
"""

from __future__ import annotations

from assay.models.architecture import Architecture
from assay.models.transformers.images import register_images
from assay_studies.models.scenes.config import SceneConfig as SceneConfig
from assay_studies.models.scenes.images import PREFIX, Scene
from assay_studies.models.scenes.network import SceneForVisualQuestionAnswering as SceneForVisualQuestionAnswering
from assay_studies.models.scenes.task import SceneQuestions

register_images(PREFIX, lambda name: Scene.read(name).pixels())

SCENE = Architecture(
    config=SceneConfig,
    network=SceneForVisualQuestionAnswering,
    purpose="VisualQuestionAnswering",
    task=SceneQuestions,
)
