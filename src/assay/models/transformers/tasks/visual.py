"""Visual question answering: the logits of all answers that a model knows, to questions each beside an image.

    assay.load((model, processor))                         a model of transformers that chooses among answers: ViLT
    assay.load((model, (tokenizer, image_processor)))      the same
    assay.explain(model, ("what color is the circle ?", "image.png"), "leave_one_out")

The image is the second field, which is never explained nor erased: a file (.npy, or whatever Pillow opens), or an array
by `picture(array)` (images.py). Images of different sizes are padded and masked, as the image processor does for a
batch; an image is prepared once, however many versions its question has.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from math import ceil
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.transformers.drawing import OwnDraws
from assay.models.transformers.images import has_digest, named, opened
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task, at_least_two, result_or_error
from assay.models.transformers.tokens import Pieces
from assay.text.text import IMAGE, Field, Row, Text

_KEPT = 256  # images that are held ready


class Seen(NamedTuple):
    """A question, the name of its image, and how many patches the image is cut into."""

    ids: list[int]
    types: list[int] | None
    image: str
    patches: int


class OpenedImage(NamedTuple):
    """A question whose image has been looked at."""

    ids: list[int]
    text: Text


class PreparedImage(NamedTuple):
    """An image as a model takes it [3, height, width]."""

    pixels: Tensor
    patches: int


class Visual(Task):
    """Answers with the logits of all answers that the model knows."""

    kind = "visual model"
    reads = 2
    widths = (2,)
    opens = False  # the layers see the patches of the image beside the pieces of the question
    probed = False  # it wants images
    shares_rows = False  # every sequence has an image beside its few words
    needs_processor: ClassVar[bool] = True  # a network that reads pixels as they are needs none

    def __init__(self, network: Network, fields: Sequence[str] = (), processor: Any = None) -> None:
        super().__init__(network, ("question", IMAGE))
        self.processor = processor
        self.focus = ("question",)
        self._ready: dict[str, PreparedImage] = {}
        self._patch = int(getattr(network.model.config, "patch_size", 32))
        self._require()

    def _require(self) -> None:
        name, config = self.network.name, self.network.model.config
        if self.processor is None and self.needs_processor:
            raise ModelNotLoaded(f"{name} needs its image processor: give (model, (tokenizer, image_processor)).")
        if (getattr(config, "max_image_length", None) or -1) > 0:
            raise ModelNotLoaded(
                f"{name} looks at {config.max_image_length} patches of an image that it draws at random; set its "
                "config.max_image_length to -1, so that it sees all of them."
            )

    def on(self, network: Network) -> Self:
        return type(self)(network, self.fields, self.processor)

    def fingerprint(self, of_network: str) -> str:
        """The image processor counts too."""
        settings = "" if self.processor is None else repr(sorted(map(repr, self.processor.to_dict().items())))
        return blake2b(f"{of_network} {settings}".encode(), digest_size=16).hexdigest()

    def clip(self, text: Text) -> Text:
        asked = self.network.encoder.clip(Text(text.fields[:1], text.focus))
        return Text((*asked.fields, *text.fields[1:]), text.focus)

    def pieces(self, text: Text) -> Pieces:
        return self.network.encoder.pieces(Text(text.fields[:1], text.focus))

    def lengths(self, rows: Sequence[Seen]) -> list[int]:
        return [len(row.ids) + row.patches for row in rows]

    def beside(self, text: Text) -> int:
        row = self.once(text.strings)
        return row.patches if isinstance(row, Seen) else 0

    def opened(self, text: Text) -> Any:
        if tuple(field.name for field in text.fields) != self.fields:
            raise BadInput(f"a {self.kind} takes a pair: the question, and then the image (the path of its file).")
        return super().opened(text)

    def open(self, text: Text, given: dict[str, str]) -> OpenedImage:
        question, image = text.fields
        known = Text((question, Field(IMAGE, named(image.string), ())), text.focus)
        self._image(known.strings[1])
        return OpenedImage(self.network.encoder.rows([known.strings[:1]])[0][0], known)

    def settle(self, batch: Sequence[OpenedImage]) -> list[Text | AssayError]:
        return [row.text for row in batch]

    def rows(self, rows: Sequence[Row]) -> Sequence[Seen | AssayError]:
        images = {name: result_or_error(self._image, name) for name in dict.fromkeys(row[1] for row in rows)}
        coded = self.network.encoder.rows([row[:1] for row in rows])
        beside = ((ids, types, name, images[name]) for (ids, types), (_, name) in zip(coded, rows, strict=True))
        return [
            image if isinstance(image, AssayError) else Seen(ids, types, name, image.patches)
            for ids, types, name, image in beside
        ]

    def _image(self, name: str) -> PreparedImage:
        """The image as the model takes it, prepared at the first look."""
        if not has_digest(name):
            raise self.unsettled()
        if name not in self._ready:
            if len(self._ready) >= _KEPT:
                self._ready.pop(next(iter(self._ready)))
            self._ready[name] = self._prepared(name)
        return self._ready[name]

    def _prepared(self, name: str) -> PreparedImage:
        array = opened(name)
        pixels = torch.tensor(array).permute(2, 0, 1) / 255 if self.processor is None else self._processed(name, array)
        size = getattr(self.network.model.config, "image_size", None)
        if self.processor is None and pixels.shape[1:] != (size, size):
            raise BadInput(f"the image is {tuple(array.shape[:2])} pixels; {self.network.name} reads {size} by {size}.")
        return PreparedImage(pixels, ceil(pixels.shape[1] / self._patch) * ceil(pixels.shape[2] / self._patch))

    def _processed(self, name: str, array: Any) -> Tensor:
        try:
            made = self.processor([array], return_tensors="pt", input_data_format="channels_last")
            pixels: Tensor = torch.as_tensor(made["pixel_values"])[0]
        except Exception as error:  # image processors raise many kinds
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise BadInput(f"the image processor of {self.network.name} cannot take {name}: {reason}.") from error
        if pixels.dim() != 3:
            raise BadInput(
                f"the image processor of {self.network.name} makes {list(pixels.shape)} of an image, not one image."
            )
        return pixels

    def logits(self, batch: Sequence[Seen]) -> Tensor:
        words = self.network.inputs([row.ids for row in batch], [row.types for row in batch])
        with OwnDraws(0):  # ViLT draws an order for the patches, and with it the padding it leaves out
            logits: Tensor = self.network.model(**words, **self._pixels([row.image for row in batch])).logits
        return at_least_two(logits)

    def _pixels(self, names: Sequence[str]) -> dict[str, Tensor]:
        """The images of a batch, padded to the largest and masked where the model takes a mask."""
        images = [self._image(name).pixels for name in names]
        height, width = (max(image.shape[i] for image in images) for i in (1, 2))
        edges = [(0, width - image.shape[2], 0, height - image.shape[1]) for image in images]
        values = torch.stack([pad(image, edge) for image, edge in zip(images, edges, strict=True)])
        inputs = {"pixel_values": values.to(self.network.device, self.network.model.dtype)}
        if "pixel_mask" in self.network.takes:
            masks = [pad(torch.ones(image.shape[1:]), edge) for image, edge in zip(images, edges, strict=True)]
            inputs["pixel_mask"] = torch.stack(masks).long().to(self.network.device)
        elif any(any(edge) for edge in edges):
            raise BadInput(f"{self.network.name} takes no mask for padding: its images must be of one size.")
        return inputs


def tokenizer_and_processor(tokenizer: Any) -> tuple[Any, Any]:
    """The tokenizer and the image processor, from a pair of them or from a processor that has both."""
    if isinstance(tokenizer, tuple | list) and len(tokenizer) == 2:
        return tokenizer[0], tokenizer[1]
    return getattr(tokenizer, "tokenizer", tokenizer), getattr(tokenizer, "image_processor", None)
