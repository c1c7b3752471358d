"""Every architecture of transformers, made tiny: a configuration with small sizes, and weights large enough to matter.

Sizes are set by the names that configurations give them; what an architecture needs besides stands in `exceptions.py`.
Weights are random with a wide spread, the embedding of padding is not zero: where padding reaches an answer it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import transformers as hf
from torch import nn
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from sweep.exceptions import LEFT_OUT, SAME_CLASS, SETTINGS, SPREAD, UNSET
from sweep.vocabularies import tokenizer_for

TASKS: Mapping[str, str] = {
    "classification": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "span": "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES",
    "tagging": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "seq2seq": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
}

_WIDTH, _LAYERS, _HEADS, _INNER = 32, 2, 4, 48
_NAMES: Mapping[int, str] = {
    _WIDTH: "hidden_size d_model n_embd dim emb_dim embedding_size word_embed_proj_dim",
    _LAYERS: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_encoder_layers "
    "num_decoder_layers num_key_value_heads num_experts_per_tok moe_topk moe_k",
    _HEADS: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads "
    "num_encoder_attention_heads num_decoder_attention_heads num_experts num_local_experts n_routed_experts "
    "moe_num_experts",
    _INNER: "intermediate_size encoder_ffn_dim decoder_ffn_dim ffn_dim d_ff d_inner n_inner hidden_dim ffn_hidden_size "
    "moe_intermediate_size shared_expert_intermediate_size dff shared_intermediate_size expert_ffn_hidden_size "
    "intermediate_size_mlp",
    _WIDTH // _HEADS: "head_dim d_kv v_head_dim kv_channels qk_rope_head_dim qk_nope_head_dim",
    16: "kv_lora_rank q_lora_rank",
    1: "n_group topk_group first_k_dense_replace",
    66: "max_position_embeddings n_positions max_sequence_length",
}
_SIZES: Mapping[str, int] = {name: size for size, names in _NAMES.items() for name in names.split()}
_SPREAD = 0.2
_MOST = 3_000_000  # weights of a model that is still tiny


class NotMade(Exception):
    """An architecture that cannot be made tiny here; the message says why."""


def architectures() -> list[tuple[str, str]]:
    """Every (model type, task) of the auto-mappings."""
    found = ((kind, task) for task, table in TASKS.items() for kind in getattr(modeling_auto, table))
    return sorted(set(found) - SAME_CLASS)


def tiny(kind: str, task: str, seed: int = 11) -> tuple[Any, Any]:
    """The model of an architecture for a task, and a tokenizer as it expects one."""
    tokenizer = tokenizer_for(kind, task)
    config = config_of(kind, task, tokenizer)
    made = getattr(hf, getattr(modeling_auto, TASKS[task])[kind])
    with torch.device("meta"):
        size = sum(weights.numel() for weights in made(config).parameters())
    if size > _MOST:
        raise NotMade(f"it stays large: {size:,} weights")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = made(config).float().eval()
        widen(model, SPREAD.get(kind, _SPREAD))
    return model, tokenizer


def config_of(kind: str, task: str, tokenizer: Any) -> Any:
    """Small sizes, the tokens of the tokenizer, the labels of the task, and what the architecture needs besides."""
    if kind in LEFT_OUT:
        raise NotMade(LEFT_OUT[kind])
    made = CONFIG_MAPPING[kind]
    known, own = made(), SETTINGS.get(kind, {})
    settings = {name: size for name, size in _SIZES.items() if _has(known, name)}
    settings |= {name: getattr(tokenizer, name) for name in _TOKENS if getattr(tokenizer, name) is not None}
    settings |= {"vocab_size": len(tokenizer)} | _TASK_SETTINGS.get(task, {})
    if task == "causal" and hasattr(known, "is_decoder"):
        settings["is_decoder"] = True
    return made(**{name: value for name, value in (settings | own).items() if value is not UNSET})


def _has(config: Any, name: str) -> bool:
    """Whether the configuration has a value for this size; where it may differ from layer to layer it does not say."""
    try:
        return getattr(config, name, None) is not None
    except Exception:
        return False


_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "mask_token_id")
_TASK_SETTINGS: Mapping[str, dict[str, Any]] = {
    "classification": {"num_labels": 3},
    "tagging": {"id2label": {0: "O", 1: "PER", 2: "LOC"}, "label2id": {"O": 0, "PER": 1, "LOC": 2}},
    "span": {"num_labels": 2},
}


def widen(model: nn.Module, spread: float) -> None:
    """Weights of layers and embeddings drawn anew, wide; biases and norms a little away from nothing."""
    for module in model.modules():
        weight = getattr(module, "weight", None)
        if not isinstance(weight, nn.Parameter):
            continue
        with torch.no_grad():
            if weight.dim() > 1:
                weight.normal_(0, 1.0 if isinstance(module, nn.Embedding) else spread)
            else:
                weight.add_(torch.randn_like(weight) * 0.1)
            if isinstance(getattr(module, "bias", None), nn.Parameter):
                module.bias.normal_(0, 0.1)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() == 3 and "expert" in name:
                weights.normal_(0, spread)
