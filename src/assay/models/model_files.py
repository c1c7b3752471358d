"""A file in the place of a model: what it is, and what to do with it."""

from __future__ import annotations

from pathlib import Path

from assay.models.attribute import as_module

_PICKLES = (".joblib", ".pkl", ".pickle", ".pt", ".pth")
MODEL_FILES = (*_PICKLES, ".bin", ".safetensors", ".onnx", ".h5", ".gguf")


def what_it_is(name: str) -> str:
    """Of a file that was named as a model."""
    if Path(name).suffix.lower() in _PICKLES:
        opener = "torch.load" if Path(name).suffix.lower() in (".pt", ".pth") else "joblib.load"
        how = f"open it yourself, in a file mine.py (`model = {opener}(...)`), and say mine:model"
        return f"{name} is a pickle, which may run code when it is opened; {how}."
    if (said := as_module(name)) is not None:
        return said
    return f"{name} is a file; a model is a directory with config.json and model.safetensors."
