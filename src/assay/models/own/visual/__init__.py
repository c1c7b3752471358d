"""Questions about images: the words of the question are explained, the image stays.

    assay.explain(model, ("what color is the circle ?", "image.png"), "leave_one_out")

The image is a file (.npy, or whatever Pillow opens), a scene by its name (assay.data.scenes), or an array by
`picture(array)`. The model is one of Hugging Face that chooses among answers (ViLT), or a small one of our own.
"""

from __future__ import annotations

from assay.models.own.visual.adapter import Visual as Visual
from assay.models.own.visual.config import SceneConfig as SceneConfig
from assay.models.own.visual.images import picture as picture
from assay.models.own.visual.network import SceneForVisualQuestionAnswering as SceneForVisualQuestionAnswering
