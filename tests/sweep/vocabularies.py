"""The tokenizer that an architecture gets: special tokens and padding as models of its kind have them."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import tiny
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

# Byte-level or Unigram pieces between <s> and </s>, padding 1, positions counted from there.
_ROBERTA = {
    "roberta", "roberta-prelayernorm", "data2vec-text", "longformer", "luke", "ibert", "xmod", "bart", "mbart",
    "plbart", "mvp", "led", "blenderbot", "blenderbot-small", "m2m_100", "nllb-moe", "esm",
}  # fmt: skip
_XLM_ROBERTA = {"xlm-roberta", "xlm-roberta-xl", "camembert", "jina_embeddings_v3", "gte"}
_T5 = {"t5", "mt5", "umt5", "longt5", "switch_transformers", "pegasus", "pegasus_x", "bigbird_pegasus", "marian"}
_XLNET = {"xlnet"}
# Decoders without a token before the text; the first without a token for padding, too.
_WITHOUT_PADDING = {"gpt2", "gpt_neo", "gptj", "codegen", "gpt-sw3", "openai-gpt", "ctrl", "gpt_bigcode"}
_WITHOUT_BEGIN = (
    "qwen", "gpt_neox", "bloom", "mpt", "falcon", "stablelm", "starcoder2", "mamba", "rwkv", "olmo", "phi", "smollm3",
    "glm", "granite",
)  # fmt: skip
# Their tokenizers give no types, though the models would take some.
_WITHOUT_TYPES = {
    "xlm",
    "flaubert",
    "funnel",
    "roformer",
    "mpnet",
    "distilbert",
    "modernbert",
    "rembert",
    "fnet",
    "mra",
    "yoso",
}


def tokenizer_for(kind: str, task: str) -> Any:
    if kind == "canine":
        return hf.CanineTokenizer(model_max_length=tiny.WINDOW)
    if kind == "perceiver":
        return hf.PerceiverTokenizer(model_max_length=tiny.WINDOW)
    if kind in _XLNET:
        return xlnet()
    if kind in _ROBERTA:
        return tiny.byte_level()
    if kind in _XLM_ROBERTA:
        return tiny.unigram_xlm()
    if kind == "albert":
        return tiny.unigram_albert()
    if kind in ("deberta", "deberta-v2"):
        return tiny.unigram_metaspace()
    if kind in _T5 or kind.startswith("t5gemma") or task == "seq2seq":
        return t5()
    if kind in _WITHOUT_PADDING:
        return tiny.byte_level_without_pad()
    if kind.startswith(_WITHOUT_BEGIN):
        return end_of_text()
    if is_decoder(kind):
        return llama()
    return wordpiece_without_types() if kind in _WITHOUT_TYPES else tiny.wordpiece()


def is_decoder(kind: str) -> bool:
    """Whether it reads from left to right by default: it is made for causal language models and for no others."""
    from transformers.models.auto import modeling_auto

    masked = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return kind in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in masked


@cache
def wordpiece_without_types() -> Any:
    made = deepcopy(tiny.wordpiece())
    made.model_input_names = ["input_ids", "attention_mask"]
    return made


@cache
def t5() -> Any:
    """The text and then </s>."""
    return tiny.seq2seq("t5")[1]


@cache
def end_of_text() -> Any:
    """Byte-level BPE as Qwen2 has it: nothing around a text, padding is the token that ends one."""
    vocab, merges = tiny._byte_pairs(["<|endoftext|>", "<|pad|>"])
    return hf.GPT2Tokenizer(vocab=vocab, merges=merges, pad_token="<|pad|>", model_max_length=tiny.WINDOW)


@cache
def llama() -> Any:
    """Unigram with Metaspace, <s> before a text, and a token for padding."""
    specials = ["<unk>", "<s>", "</s>", "<pad>"]
    tokenizer = Tokenizer(models.Unigram(tiny.unigrams(specials), unk_id=0))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, model_max_length=tiny.WINDOW)


@cache
def xlnet() -> Any:
    """The text, <sep>, and <cls> last, by itself a third type; padded on the left."""
    specials = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"]
    tokenizer = Tokenizer(models.Unigram(tiny.unigrams(specials), unk_id=0))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2",
        special_tokens=[("<sep>", 4), ("<cls>", 3)],
    )
    names = {
        "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "cls_token": "<cls>", "sep_token": "<sep>",
        "pad_token": "<pad>", "mask_token": "<mask>",
    }  # fmt: skip
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **names, padding_side="left", model_max_length=tiny.WINDOW
    )  # fmt: skip
