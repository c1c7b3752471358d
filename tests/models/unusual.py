"""Tiny models of architectures that do not do as the others do, each with random weights wide enough to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import tiny
import torch
import transformers as hf

Pair = tuple[Any, Any]

_SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
_DECODER = {**_SIZES, "num_key_value_heads": 2, "max_position_embeddings": tiny.WINDOW}


def _built(kind: str, config: Any, tokenizer: Any) -> Pair:
    config.initializer_range = 0.3
    return tiny.seeded(lambda: getattr(hf, kind)(config)), tokenizer


def _encoder(name: str, **more: Any) -> Pair:
    """A classifier of an architecture whose settings are called as BERT's are."""
    words = tiny.word_level()
    settings = {"vocab_size": len(words), "num_labels": 3, "pad_token_id": words.pad_token_id, **_SIZES, **more}
    return _built(f"{name}ForSequenceClassification", getattr(hf, f"{name}Config")(**settings), words)


def _decoder(name: str, **more: Any) -> Pair:
    """A classifier around a decoder whose tokenizer puts nothing around a text."""
    words = tiny.byte_level_without_pad()
    settings = {"vocab_size": len(words), "num_labels": 3, "pad_token_id": words.eos_token_id, **more}
    return _built(f"{name}ForSequenceClassification", getattr(hf, f"{name}Config")(**settings), words)


@cache
def xlnet() -> Pair:
    """It reads its last piece, and its layers work on [pieces, rows]."""
    words = tiny.word_level()
    sizes = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 16, "num_labels": 3}
    return _built("XLNetForSequenceClassification", hf.XLNetConfig(vocab_size=len(words), **sizes), words)


@cache
def nystromformer() -> Pair:
    """It convolves over the values of all pieces, padding included."""
    return _encoder("Nystromformer", segment_means_seq_len=64, num_landmarks=64, conv_kernel_size=5)


@cache
def convbert() -> Pair:
    return _encoder("ConvBert", embedding_size=16, head_ratio=1, conv_kernel_size=3)


@cache
def funnel() -> Pair:
    """Its blocks have half as many pieces each."""
    words = tiny.word_level()
    sizes = {"d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 16, "block_sizes": [1, 1], "num_decoder_layers": 1}
    config = hf.FunnelConfig(vocab_size=len(words), pad_token_id=0, num_labels=3, initializer_std=0.3, **sizes)
    return _built("FunnelForSequenceClassification", config, words)


@cache
def mobilebert() -> Pair:
    """A piece is embedded together with its neighbours, and here [PAD] is embedded as something."""
    sizes = {"embedding_size": 16, "intra_bottleneck_size": 16, "num_feedforward_networks": 1}
    model, words = _encoder("MobileBert", **sizes)
    with torch.no_grad():
        model.mobilebert.embeddings.word_embeddings.weight[words.pad_token_id] = torch.linspace(-1, 1, 16)
    return model, words


@cache
def longformer() -> Pair:
    """Its attention maps are pieces x window."""
    return _encoder("Longformer", attention_window=4, max_position_embeddings=tiny.WINDOW + 2)


@cache
def modernbert(pooling: str = "mean") -> Pair:
    special = {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
    more = {"classifier_pooling": pooling, "global_attn_every_n_layers": 1, **special}
    return _encoder("ModernBert", max_position_embeddings=tiny.WINDOW, **more)


@cache
def eurobert(pooling: str = "mean") -> Pair:
    return _encoder("EuroBert", **{**_DECODER, "classifier_pooling": pooling})


@cache
def bigbird() -> Pair:
    """It switches to full attention for good when it sees a short batch."""
    return _encoder("BigBird", block_size=2, num_random_blocks=1, max_position_embeddings=tiny.WINDOW)


@cache
def reformer() -> Pair:
    """It attends by chunks of four, the first one to the last one too, which may be of padding."""
    more = {"attn_layers": ["local", "local"], "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4}
    sizes = {"attention_head_size": 8, "feed_forward_size": 16, "axial_pos_embds": False, "axial_norm_std": 0.3}
    words = tiny.word_level()
    settings = {"vocab_size": len(words), "num_labels": 3, "pad_token_id": words.pad_token_id, **sizes, **more}
    shape = {"hidden_size": 16, "num_attention_heads": 2, "max_position_embeddings": tiny.WINDOW}
    return _built("ReformerForSequenceClassification", hf.ReformerConfig(**settings, **shape), words)


@cache
def fnet() -> Pair:
    """Its Fourier layers take no mask, and attend to nothing."""
    words = tiny.word_level()
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 16}
    return _built("FNetForSequenceClassification", hf.FNetConfig(vocab_size=len(words), num_labels=3, **sizes), words)


@cache
def ibert() -> Pair:
    """Its embedding layer gives a tensor and a scale."""
    return _encoder("IBert", max_position_embeddings=tiny.WINDOW + 2, type_vocab_size=1)


@cache
def bart() -> Pair:
    words = tiny.word_level()
    config = hf.BartConfig(
        vocab_size=len(words), d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, num_labels=3,
        init_std=0.3, pad_token_id=0, eos_token_id=3,
    )  # fmt: skip
    return _built("BartForSequenceClassification", config, words)


@cache
def t5() -> Pair:
    _, words = tiny.seq2seq("t5")
    config = hf.T5Config(
        vocab_size=len(words), d_model=16, d_kv=8, d_ff=16, num_layers=2, num_heads=2, num_labels=3,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    return _built("T5ForSequenceClassification", config, words)


@cache
def qwen2() -> Pair:
    return _decoder("Qwen2", **_DECODER)


@cache
def gpt2_padded() -> Pair:
    return _decoder("GPT2", n_embd=16, n_layer=2, n_head=2, n_positions=tiny.WINDOW)


@cache
def gpt_neox() -> Pair:
    return _decoder("GPTNeoX", **_SIZES, max_position_embeddings=tiny.WINDOW)


@cache
def ctrl() -> Pair:
    """It multiplies its embeddings in place."""
    return _decoder("CTRL", n_embd=16, n_layer=2, n_head=2, dff=16, n_positions=tiny.WINDOW)


MODELS: Mapping[str, Callable[[], Pair]] = {
    build.__name__: build
    for build in (
        *(xlnet, nystromformer, convbert, funnel, mobilebert, longformer, modernbert, eurobert, bigbird, fnet, ibert),
        *(reformer, bart, t5, qwen2, gpt2_padded, gpt_neox, ctrl, tiny.gpt2),
    )
}
