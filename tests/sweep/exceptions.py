"""What architectures need besides small sizes, and which are left out, with the reason; all of it data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNSET = object()  # a size that this configuration does not let one set

_HEAD_FOR_HEAD: dict[str, Any] = {"num_key_value_heads": 4}
_LAST_ATTENDS: dict[str, Any] = {"layer_types": ["linear_attention", "full_attention"]}
_LINEAR: dict[str, Any] = {
    "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
}  # fmt: skip
_MAMBA: dict[str, Any] = {
    "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_d_state": 16, "mamba_chunk_size": 8,
}  # fmt: skip
_SMALL: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 66, "vocab_size": 600,
}  # fmt: skip
_GEMMA: dict[str, Any] = _SMALL | {"num_key_value_heads": 2, "head_dim": 8, "query_pre_attn_scalar": 8}
_STARTS: dict[str, Any] = {"decoder_start_token_id": 0}
_WINDOWED: dict[str, Any] = {
    "attention_window": 4, "max_encoder_position_embeddings": 66, "max_decoder_position_embeddings": 66,
}  # fmt: skip
_EIGHT_WIDE: dict[str, Any] = {"head_dim": 8}

SETTINGS: Mapping[str, dict[str, Any]] = {
    **dict.fromkeys(
        ("axk1", "axk2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "longcat_flash",
         "minicpm3", "youtu", "esmc"),
        _HEAD_FOR_HEAD,
    ),
    "deepseek_v2": _HEAD_FOR_HEAD | {"num_experts_per_tok": 2},
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), _LAST_ATTENDS | _LINEAR),
    **dict.fromkeys(("hunyuan_v1_dense", "hunyuan_v1_moe", "ministral"), _EIGHT_WIDE),
    "nemotron_h": {"mamba_num_heads": 4, "mamba_head_dim": 16, "n_groups": 1, "ssm_state_size": 16, "chunk_size": 8},
    "nemotron": {"num_key_value_heads": 2},
    "codegen": {"rotary_dim": 4},
    "gptj": {"rotary_dim": 4},
    "bamba": _MAMBA | {"attn_layer_indices": [1]},
    "falcon_h1": _MAMBA | {"mamba_d_ssm": 64},
    "granitemoehybrid": _MAMBA | _LAST_ATTENDS,
    "zamba": {"num_hidden_layers": 3, "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "attention_hidden_size": 64, "attention_head_dim": 16, "mamba_dt_rank": 4,
        "use_mamba_kernels": False, "num_key_value_heads": 4},
    "zamba2": {"layers_block_type": ["linear_attention", "hybrid"], "attention_hidden_size": 64, "adapter_rank": 4,
        "attention_head_dim": 16, "chunk_size": 8, "n_mamba_heads": 4, "mamba_headdim": 16, "mamba_d_state": 16,
        "num_key_value_heads": 4, "use_mamba_kernels": False, "num_query_groups": 4},
    "t5gemma": {"encoder": _GEMMA, "decoder": _GEMMA, "decoder_start_token_id": 0},
    "encoder-decoder": {"encoder": _SMALL | {"model_type": "bert"}, "decoder_start_token_id": 0,
        "decoder": _SMALL | {"model_type": "bert", "is_decoder": True, "add_cross_attention": True}},
    "gemma3n_text": {"layer_types": ["sliding_attention", "full_attention"], "num_kv_shared_layers": 0,
        "vocab_size_per_layer_input": 600, "hidden_size_per_layer_input": 8, "laurel_rank": 4, "altup_num_inputs": 2,
        "activation_sparsity_pattern": [0.0, 0.0], "intermediate_size": [48, 48]},
    "gemma4_text": {"layer_types": ["sliding_attention", "full_attention"], "vocab_size_per_layer_input": 600,
        "hidden_size_per_layer_input": 8},
    "bailing_hybrid": _HEAD_FOR_HEAD | _LAST_ATTENDS | {"num_experts_per_token": 2, "num_expert_group": 1,
        "mlp_layer_types": ["dense", "sparse"], "linear_head_dim": 8, "linear_num_heads": 4},
    "bros": {"max_2d_position_embeddings": 64},
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}},
    "dots1": {"n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2},
    "falcon": {"head_dim": UNSET},
    "funnel": {"num_hidden_layers": UNSET, "block_sizes": [1, 1], "block_repeats": [1, 1], "d_head": 8,
        "num_decoder_layers": 1},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False, "mamba_dt_rank": 4,
        "num_experts": 2},
    "kimi_linear": _HEAD_FOR_HEAD | _LAST_ATTENDS | {"mlp_layer_types": ["dense", "sparse"], "linear_head_dim": 8,
        "linear_num_heads": 4, "num_experts_per_token": 2},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6, "visual_embed": False},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "lilt": {"hidden_size": 48},
    "led": _WINDOWED,
    "longformer": _WINDOWED,
    "luke": {"entity_vocab_size": 16, "entity_emb_size": 8},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 16, "chunk_size": 8},
    "mistral4": _HEAD_FOR_HEAD | {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
        "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 8192}},
    "perceiver": {"num_latents": 8, "d_latents": 32, "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4, "max_position_embeddings": 66},
    "prophetnet": {"num_hidden_layers": UNSET},
    "reformer": {"axial_pos_embds": False, "attn_layers": ["local", "local"], "feed_forward_size": 48,
        "attention_head_size": 8, "local_attn_chunk_length": 8},
    "roc_bert": {"pronunciation_vocab_size": 16, "shape_vocab_size": 16, "pronunciation_embed_dim": 8,
        "shape_embed_dim": 8},
    "xlnet": {"max_position_embeddings": UNSET},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zaya": {"num_experts_per_tok": 1},
    "esm": {"position_embedding_type": "rotary"},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"hidden_size": 32, "ffn_hidden_size": 48,
        "moe_num_experts": 4, "moe_top_k": 2, "ffn_act_fn": {"name": "silu"}}},
    **dict.fromkeys(("t5", "mt5", "umt5", "longt5", "switch_transformers", "marian"), _STARTS),
}  # fmt: skip

# Where activations are not normed, weights as wide as the others' make logits of thousands.
SPREAD: Mapping[str, float] = {"mobilebert": 0.07}

_SEES = "it reads images, sounds or page layouts beside the text"
LEFT_OUT: Mapping[str, str] = {
    **dict.fromkeys(
        ("audioflamingo3", "emu3", "fuyu", "gemma3", "gemma3n", "gemma4", "gemma4_unified", "git", "glmasr", "got_ocr2",
         "granite_speech", "granite_speech_plus", "llama4", "mllama", "modernvbert", "moshi", "moss_transcribe_diarize",
         "musicflamingo", "musicgen", "musicgen_melody", "nemo_speechlm", "phi4_multimodal", "qwen2_audio", "qwen3_5",
         "qwen3_5_moe", "qwen3_asr", "qwen4_exp", "trocr", "ultravbert", "vibevoice_asr", "voxtral", "voxtral_realtime",
         "whisper", "lxmert", "neomme", "t5gemma2"),
        _SEES,
    ),
    "layoutlmv2": "it needs the package detectron2",
    "bros": "it needs the place of every word on its page",
    "gemma4_assistant": "it drafts for another model, whose states it reads",
    "gemma4_unified_assistant": "it drafts for another model, whose states it reads",
    "blt": "it cuts bytes into patches by a second model; not made tiny here",
    "qwen4_exp_text": "its configuration has no defaults for its index of n-grams; not made tiny here",
    "xlstm": "its recurrent kernels do not take the shapes of a tiny one; not made tiny here",
    "tapas": "it reads a table, with seven types for every piece",
}  # fmt: skip

# The auto-mapping names one class for two tasks; it is what it generates by, an encoder-decoder.
SAME_CLASS = {("bart", "masked"), ("mbart", "masked"), ("mvp", "masked")}
