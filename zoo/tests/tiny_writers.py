"""A writer small enough to be trained in a test."""

from pathlib import Path
from typing import Any

import pytest
import torch


def tiny_writer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A decoder of two layers with a vocabulary of characters, in the place of the writer's base."""
    import distil
    import writing
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    characters = {c: i for i, c in enumerate(["<|im_end|>", *map(chr, range(32, 127)), "\n"])}
    plain = Tokenizer(models.WordLevel(characters, unk_token="<|im_end|>"))
    plain.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(characters), **sizes, tie_word_embeddings=True)

    def base(_: Any) -> tuple[Any, Any]:
        torch.manual_seed(5)
        return LlamaForCausalLM(config).eval(), tokenizer

    monkeypatch.setattr(writing, "base", base)
    monkeypatch.setattr(distil, "base", base)
    return writing


PAIRS = [("a man is not", " asleep."), ("two dogs run", " fast."), ("nobody plays", " here."), ("it rains", " a lot.")]


def options_for(out: Path, **more: Any) -> Any:
    from options import Options

    plain = {"data": out, "out": out, "base": None, "device": "cpu", "seed": 0, "quick": False, "minutes": 1.0}
    return Options(**{**plain, "steps": 6, "keep": 0.5, "epochs": None, "only": None, **more})
