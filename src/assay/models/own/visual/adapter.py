"""Visual question answering as the engine sees it: a classifier of questions, each beside an image that stays.

    assay.load((model, processor))                         a model of transformers that chooses among answers: ViLT
    assay.load((model, (tokenizer, image_processor)))      the same
    assay.load((model, tokenizer))                         our own small model, which reads pixels as they are

The image is the second field, which is never explained nor erased. Images of different sizes are padded and masked, as
the image processor does for a batch; an image is prepared once, however many versions its question has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from math import ceil
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.own.small import CLOSED
from assay.models.own.visual.images import named, opened, settled
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.paths import Line
from assay.models.transformers.tasks.settled import Settled, tried
from assay.models.transformers.tokens import Pieces
from assay.text.text import IMAGE, Field, Row, Text

_KEPT = 256  # images that are held ready


class Seen(NamedTuple):
    """A question, the name of its image, and how many patches the image is cut into."""

    ids: list[int]
    types: list[int] | None
    image: str
    patches: int


class Open(NamedTuple):
    """A question whose image has been looked at."""

    ids: list[int]
    text: Text


class Prepared(NamedTuple):
    """An image as a model takes it [3, height, width]."""

    pixels: Tensor
    patches: int


class Visual(Settled):
    """Answers with the logits of all answers that the model knows."""

    kind = "visual model"
    reads = 2
    notes = ()
    widths = (2,)

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        words, self.eyes = parted(tokenizer)
        super().__init__(model, words, **{**settings, "fields": ("question", IMAGE)})
        self.focus = ("question",)
        self.answers -= CLOSED
        self.most_rows = None  # padding is masked, and no token is looked for to find the end of a row
        self.line_tokens = 0  # every sequence has an image beside its few words
        self._ready: dict[str, Prepared] = {}
        self._patch = int(getattr(model.config, "patch_size", 32))
        self._require()

    def _require(self) -> None:
        config = self.model.config
        if self.eyes is None and getattr(config, "model_type", "") != "scene":
            raise ModelNotLoaded(f"{self.name} needs its image processor: give (model, (tokenizer, image_processor)).")
        if (getattr(config, "max_image_length", None) or -1) > 0:
            raise ModelNotLoaded(
                f"{self.name} looks at {config.max_image_length} patches of an image that it draws at random; set its "
                "config.max_image_length to -1, so that it sees all of them."
            )

    def _with(self, model: Any, name: str) -> HuggingFace:
        return type(self)(model, (self.tokenizer, self.eyes), name=name)

    def fingerprint(self) -> str:
        """The image processor counts too."""
        seen = "" if self.eyes is None else repr(sorted(map(repr, self.eyes.to_dict().items())))
        return blake2b(f"{super().fingerprint()} {seen}".encode(), digest_size=16).hexdigest()

    def clip(self, text: Text) -> Text:
        asked = self.encoder.clip(Text(text.fields[:1], text.focus))
        return Text((*asked.fields, *text.fields[1:]), text.focus)

    def pieces(self, text: Text) -> Pieces:
        return self.encoder.pieces(Text(text.fields[:1], text.focus))

    def lengths(self, encoded: Sequence[Any]) -> Sequence[int]:
        return [self._length(row) for row in encoded]

    def _length(self, row: Any) -> int:
        """Words and patches; a text whose image is only looked at costs its words."""
        if isinstance(row, Line):
            known = self._once(row.row.text.strings)
            return len(row) + (known.patches if isinstance(known, Seen) else 0)
        return len(row.ids) + row.patches if isinstance(row, Seen) else len(row[0])

    def _opened(self, text: Text) -> Any:
        if tuple(field.name for field in text.fields) != self.fields:
            raise BadInput(f"a {self.kind} takes a pair: the question, and then the image (the path of its file).")
        return super()._opened(text)

    def _open(self, text: Text, given: dict[str, str]) -> Open:
        question, image = text.fields
        known = Text((question, Field(IMAGE, named(image.string), ())), text.focus)
        self._image(known.strings[1])
        return Open(self.encoder.rows([known.strings[:1]])[0][0], known)

    def _settle(self, batch: Sequence[Open]) -> list[Text | AssayError]:
        return [row.text for row in batch]

    def _rows(self, rows: Sequence[Row]) -> Sequence[Seen | AssayError]:
        looked = {name: tried(self._image, name) for name in dict.fromkeys(row[1] for row in rows)}
        coded = self.encoder.rows([row[:1] for row in rows])
        beside = ((ids, types, name, looked[name]) for (ids, types), (_, name) in zip(coded, rows, strict=True))
        return [
            image if isinstance(image, AssayError) else Seen(ids, types, name, image.patches)
            for ids, types, name, image in beside
        ]

    def _image(self, name: str) -> Prepared:
        """The image as the model takes it, prepared at the first look."""
        if not settled(name):
            raise self._unsettled()
        if name not in self._ready:
            if len(self._ready) >= _KEPT:
                self._ready.pop(next(iter(self._ready)))
            self._ready[name] = self._prepared(name)
        return self._ready[name]

    def _prepared(self, name: str) -> Prepared:
        array = opened(name)
        pixels = torch.tensor(array).permute(2, 0, 1) / 255 if self.eyes is None else self._processed(name, array)
        size = getattr(self.model.config, "image_size", None)
        if self.eyes is None and pixels.shape[1:] != (size, size):
            raise BadInput(f"the image is {tuple(array.shape[:2])} pixels; {self.name} reads {size} by {size}.")
        return Prepared(pixels, ceil(pixels.shape[1] / self._patch) * ceil(pixels.shape[2] / self._patch))

    def _processed(self, name: str, array: Any) -> Tensor:
        try:
            made = self.eyes([array], return_tensors="pt", input_data_format="channels_last")
            pixels: Tensor = torch.as_tensor(made["pixel_values"])[0]
        except Exception as error:  # image processors raise many kinds
            said = " ".join(str(error).split())[:200].rstrip(".")
            raise BadInput(f"the image processor of {self.name} cannot take {name}: {said}.") from error
        if pixels.dim() != 3:
            raise BadInput(f"the image processor of {self.name} makes {list(pixels.shape)} of an image, not one image.")
        return pixels

    def _logits(self, batch: Sequence[Any]) -> Tensor:
        words = self.inputs([row.ids for row in batch], [row.types for row in batch])
        with _chance_as_before():
            logits: Tensor = self.model(**words, **self._pixels([row.image for row in batch])).logits
        return torch.cat([-logits, logits], dim=1) / 2 if logits.shape[1] == 1 else logits

    def _pixels(self, names: Sequence[str]) -> dict[str, Tensor]:
        """The images of a batch, padded to the largest and masked where the model takes a mask."""
        images = [self._image(name).pixels for name in names]
        height, width = (max(image.shape[i] for image in images) for i in (1, 2))
        edges = [(0, width - image.shape[2], 0, height - image.shape[1]) for image in images]
        values = torch.stack([pad(image, edge) for image, edge in zip(images, edges, strict=True)])
        told = {"pixel_values": values.to(self.device, self.model.dtype)}
        if "pixel_mask" in self._takes:
            masks = [pad(torch.ones(image.shape[1:]), edge) for image, edge in zip(images, edges, strict=True)]
            told["pixel_mask"] = torch.stack(masks).long().to(self.device)
        elif any(any(edge) for edge in edges):
            raise BadInput(f"{self.name} takes no mask for padding: its images must be of one size.")
        return told


def parted(tokenizer: Any) -> tuple[Any, Any]:
    """The tokenizer and the image processor, from a pair of them or from a processor that has both."""
    if isinstance(tokenizer, tuple | list) and len(tokenizer) == 2:
        return tokenizer[0], tokenizer[1]
    return getattr(tokenizer, "tokenizer", tokenizer), getattr(tokenizer, "image_processor", None)


@contextmanager
def _chance_as_before(seed: int = 0) -> Iterator[None]:
    """ViLT draws an order for the patches, and with it the padding it leaves out; nobody else's draws are touched."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
