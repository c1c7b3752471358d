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
_MAMBA: dict[str, Any] = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_d_state": 16}
_EIGHT_WIDE: dict[str, Any] = {"head_dim": 8}

SETTINGS: Mapping[str, dict[str, Any]] = {
    **dict.fromkeys(
        ("axk1", "axk2", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "longcat_flash",
         "minicpm3", "youtu", "esmc"),
        _HEAD_FOR_HEAD,
    ),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), _LAST_ATTENDS | _LINEAR),
    **dict.fromkeys(("hunyuan_v1_dense", "hunyuan_v1_moe", "ministral", "nemotron"), _EIGHT_WIDE),
    **dict.fromkeys(("codegen", "gptj"), {"rotary_dim": 4}),
    **dict.fromkeys(("bamba", "granitemoehybrid"), _MAMBA),
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
    **dict.fromkeys(("longformer", "led"), {"attention_window": 4, "max_encoder_position_embeddings": 66,
        "max_decoder_position_embeddings": 66}),
    "luke": {"entity_vocab_size": 16, "entity_emb_size": 8},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 16},
    "mistral4": _HEAD_FOR_HEAD | {"qk_rope_head_dim": 8},
    "perceiver": {"num_latents": 8, "d_latents": 32, "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4, "max_position_embeddings": 66},
    "prophetnet": {"num_hidden_layers": UNSET},
    "reformer": {"axial_pos_embds": False, "attn_layers": ["local", "local"], "feed_forward_size": 48,
        "attention_head_size": 8, "local_attn_chunk_length": 8},
    "roc_bert": {"pronunciation_vocab_size": 16, "shape_vocab_size": 16, "pronunciation_embed_dim": 8,
        "shape_embed_dim": 8},
    "xlnet": {"max_position_embeddings": UNSET},
    "xlstm": {"v_head_dim": UNSET},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zaya": {"num_experts_per_tok": 1},
    "esm": {"position_embedding_type": "rotary"},
    "mpt": {},
    "dbrx": {},
    **dict.fromkeys(("t5", "mt5", "umt5", "longt5", "switch_transformers"), {"decoder_start_token_id": 0}),
}  # fmt: skip

_SEES = "it reads images, sounds or page layouts beside the text"
LEFT_OUT: Mapping[str, str] = {
    **dict.fromkeys(
        ("audioflamingo3", "emu3", "fuyu", "gemma3", "gemma3n", "gemma4", "gemma4_unified", "git", "glmasr", "got_ocr2",
         "granite_speech", "granite_speech_plus", "llama4", "mllama", "modernvbert", "moshi", "moss_transcribe_diarize",
         "musicflamingo", "musicgen", "musicgen_melody", "nemo_speechlm", "phi4_multimodal", "qwen2_audio", "qwen3_5",
         "qwen3_5_moe", "qwen3_asr", "qwen4_exp", "trocr", "ultravbert", "vibevoice_asr", "voxtral", "voxtral_realtime",
         "whisper", "lxmert", "neomme"),
        _SEES,
    ),
    "layoutlmv2": "it needs the package detectron2",
    "bros": "it needs the place of every word on its page",
    "gemma4_assistant": "it drafts for another model, whose states it reads",
    "gemma4_unified_assistant": "it drafts for another model, whose states it reads",
    "tapas": "it reads a table, with seven types for every piece",
}  # fmt: skip

# The auto-mapping names one class for two tasks; it is what it generates by, an encoder-decoder.
SAME_CLASS = {("bart", "masked"), ("mbart", "masked"), ("mvp", "masked")}
