"""What a model directory may hold: nothing is fetched, run or read elsewhere because a file in it says so.

Checked before transformers sees the directory: its files are there, weights are safetensors, an index of weights names
files of this directory only, and its settings are of a sane size and name no code on the hub.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.errors import ModelNotLoaded

_LARGEST_CONFIG = 16_000_000  # bytes; 20,000 named labels take one million
_TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
)
# Where the settings may name an implementation of attention: in a model's own settings and in those of its parts.
_ATTENTION = ("_attn_implementation", "attn_implementation", "_attn_implementation_internal")
_SETTINGS_FILES = ("config.json", "tokenizer_config.json", "generation_config.json", "special_tokens_map.json")


def require_safe(path: Path) -> None:
    """Refuse, in one sentence, a directory that is no model or would lead elsewhere."""
    config = settings(path)
    require_no_kernel(config, str(path))
    for name in _SETTINGS_FILES[1:]:
        _read(path / name)
    _require_weights(path)
    if not any((path / name).is_file() for name in _TOKENIZER_FILES):
        raise ModelNotLoaded(f"{path} has no tokenizer; save it there too with tokenizer.save_pretrained.")


def settings(path: Path) -> Mapping[str, Any]:
    """What its config.json says; nothing where the file is broken, which transformers will say itself."""
    if not (path / "config.json").is_file():
        if (path / "adapter_config.json").is_file():
            raise ModelNotLoaded(
                f"{path} holds an adapter without its base; merge the two (peft's merge_and_unload) and save the model "
                "and its tokenizer with save_pretrained."
            )
        raise ModelNotLoaded(f"{path} has no config.json; a model is saved with save_pretrained.")
    found = _read(path / "config.json")
    return found if isinstance(found, dict) else {}


def require_no_kernel(config: Mapping[str, Any], name: str) -> None:
    """Attention code by a name on the hub (`owner/kernel`) would be fetched and run: code of strangers."""
    for part in _parts(config):
        for key in _ATTENTION:
            asked = part.get(key)
            for one in asked.values() if isinstance(asked, dict) else [asked]:
                if _is_fetched(one):
                    raise ModelNotLoaded(
                        f"{name} asks for the attention code {one!r} from the hub, and code of strangers is not run; "
                        f"remove {key} from its config.json."
                    )


def _is_fetched(attention: Any) -> bool:
    """Whether transformers would look for it on the hub; flash attention too, where it is not installed."""
    if not isinstance(attention, str):
        return False
    missing = "flash" in attention and not any(map(find_spec, ("flash_attn", "flash_attn_interface")))
    return "/" in attention or "kernel" in attention.lower() or missing


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The settings and, of whatever depth, the settings of parts within them."""
    open_parts: list[Any] = [config]
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, dict):
            yield part
        if isinstance(part, dict | list):
            open_parts += part.values() if isinstance(part, dict) else part


def _read(file: Path) -> Any:
    """A file of settings; none where it is missing or no JSON."""
    try:
        if (size := file.stat().st_size) > _LARGEST_CONFIG:
            raise ModelNotLoaded(f"{file} has {size / 1e6:,.0f} MB; settings of a model are far smaller.")
        return json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ModelNotLoaded(f"{file} is nested too deeply to be read; no model has such settings.") from error
    except (OSError, ValueError):
        return None


def _require_weights(path: Path) -> None:
    named = [(index, str(file)) for index in path.glob("*.index.json") for file in _weight_map(index).values()]
    if not any(path.glob("*.safetensors")) or not all(file.endswith(".safetensors") for _, file in named):
        raise ModelNotLoaded(f"{path} has no weights in safetensors (other formats may run code and are not opened).")
    for index, file in dict.fromkeys(named):
        if not _lies_in(path, file):
            raise ModelNotLoaded(f"{index} leads out of its directory, to {file}; weights must lie beside it.")


def _weight_map(index: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(index.read_text(encoding="utf-8"))["weight_map"])
    except RecursionError as error:
        raise ModelNotLoaded(f"{index} is nested too deeply to be read.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelNotLoaded(f"{index} cannot be read: {error}.") from error


def _lies_in(path: Path, file: str) -> bool:
    """Whether a file lies in the directory, links followed; the hub's own cache keeps its files beside `snapshots`."""
    try:
        home, target = path.resolve(), (path / file).resolve()
    except (OSError, ValueError, RuntimeError):  # a name that is none, or a circle of links
        return False
    cache = home.parents[1] / "blobs" if home.parent.name == "snapshots" else home
    return ".." not in Path(file).parts and (target.is_relative_to(home) or target.is_relative_to(cache))
