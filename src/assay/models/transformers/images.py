"""Images by name: a file, an array, or what a registered reader makes; once read, the name identifies the pixels too.

    image.png  ->  image.png #3f2a9c1d5e6f7a8b

The number is a digest of the pixels. Answers are remembered by the strings of a text, and a file may change under its
name: with the digest in the name an old answer is never taken for a new image, and a report says which image it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from assay.errors import BadFile, BadInput

Pixels: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

_READERS: dict[str, Callable[[str], Pixels]] = {}  # by how a name begins
_NAMED = re.compile(r"(.*) #([0-9a-f]{16})", re.DOTALL)
_ARRAY = "array"


def register_images(prefix: str, reader: Callable[[str], Pixels]) -> None:
    """Names that begin so are no files: the reader makes their pixels [height, width, 3]."""
    _READERS[prefix] = reader


class Picture(str):
    """The name of an image that was given as an array, and the array with it."""

    pixels: Pixels


def picture(array: Any) -> Picture:
    """An array [height, width, 3] (or grey: [height, width]) of bytes, or of numbers from 0 to 1, as an image."""
    pixels = colored(np.asarray(array), "the array")
    made = Picture(f"{_ARRAY} #{digest(pixels)}")
    made.pixels = pixels
    return made


def named(name: str) -> str:
    """The name with the digest of the pixels."""
    if match := _NAMED.fullmatch(name):
        opened(name)
        return name if isinstance(name, Picture) else match[0]
    return f"{name} #{digest(_pixels(name))}"


def has_digest(name: str) -> bool:
    return bool(_NAMED.fullmatch(name))


def opened(name: str) -> Pixels:
    """The pixels [height, width, 3] of an image under its name with a digest."""
    match = _NAMED.fullmatch(name)
    assert match is not None
    pixels = name.pixels if isinstance(name, Picture) else _pixels(match[1])
    if digest(pixels) != match[2]:
        raise BadFile(f"the image {match[1]} is not what it was when the explanation began; explain it again.")
    return pixels


def digest(pixels: Pixels) -> str:
    return blake2b(repr(pixels.shape).encode() + pixels.tobytes(), digest_size=8).hexdigest()


def _pixels(name: str) -> Pixels:
    if reader := next((read for prefix, read in _READERS.items() if name.startswith(prefix)), None):
        return reader(name)
    if name == _ARRAY:
        raise BadInput("this image was given as an array, which was not kept; give it again with picture(array).")
    data = _bytes(name)
    return colored(_numpy(name, data) if data.startswith(b"\x93NUMPY") else _pillow(name, data), f"the image {name}")


def _bytes(name: str) -> bytes:
    try:
        return Path(name).expanduser().read_bytes()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadFile(f"the image {name[:200]!r} cannot be read: {reason}.") from error


def _numpy(name: str, data: bytes) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(np.load(BytesIO(data), allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise BadFile(f"the image {name} is a broken .npy file: {error}.") from error


def _pillow(name: str, data: bytes) -> np.ndarray[Any, Any]:
    try:
        from PIL import Image  # an extra: arrays do without it
    except ImportError as error:
        raise BadFile(f"to open {name}, install pillow; or save its pixels with numpy as a .npy file.") from error
    try:
        with Image.open(BytesIO(data)) as image:
            return np.asarray(image.convert("RGB"))
    except Exception as error:  # Pillow's readers raise many kinds
        raise BadFile(f"{name} is no image that Pillow can open; a .png, a .jpg or a .npy file is one.") from error


def colored(array: np.ndarray[Any, Any], what: str) -> Pixels:
    """Bytes [height, width, 3]; numbers from 0 to 1 become bytes, grey becomes three colours."""
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3) or 0 in array.shape:
        raise BadInput(f"{what} must be [height, width, 3], or grey [height, width], not {list(array.shape)}.")
    if array.dtype != np.uint8:
        array = _as_bytes(array, what)
    return np.ascontiguousarray(np.broadcast_to(array, (*array.shape[:2], 3)))


def _as_bytes(array: np.ndarray[Any, Any], what: str) -> Pixels:
    if array.dtype.kind == "f" and np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1:
        return np.round(array * 255).astype(np.uint8)
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 255:
        return array.astype(np.uint8)
    raise BadInput(f"{what} must hold bytes from 0 to 255, or numbers from 0 to 1.")
