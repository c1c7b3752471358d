"""From the packed files to an ordinary transformers model and tokenizer: no network, no random weights."""

import json
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
    PreTrainedModel,
)

from assay_zoo import cards
from assay_zoo.packing import State, dequantise, merge

ENCODER, CONFIG, TOKENIZER = "encoder.safetensors", "config.json", "tokenizer.json"
SPECIAL: dict[str, Any] = {f"{part}_token": f"[{part.upper()}]" for part in ("unk", "sep", "pad", "cls", "mask")}
ARCHITECTURES: dict[str, type[PreTrainedModel]] = {
    "text-classification": BertForSequenceClassification,
    "pair-classification": BertForSequenceClassification,
    "token-classification": BertForTokenClassification,
    "question-answering": BertForQuestionAnswering,
    "fill-mask": BertForMaskedLM,
}


def load(name: str, *, attn_implementation: str | None = None) -> tuple[PreTrainedModel, BertTokenizer]:
    """A bundled model in eval mode and float32, with its tokenizer."""
    card = cards.card(name)
    files = cards.checked(card)
    state = dequantise(load_file(files[ENCODER]))
    adapter = files.get(f"{name}.safetensors")
    if adapter is not None:
        state = merge(state, load_file(adapter))
    config = configure(files[CONFIG], labels=card.labels, attn_implementation=attn_implementation)
    return assemble(ARCHITECTURES[card.task], config, state), tokenizer(files[TOKENIZER])


def configure(path: Path, *, labels: tuple[str, ...], attn_implementation: str | None) -> BertConfig:
    """The encoder's configuration with the labels of one task."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if labels:
        facts["id2label"] = dict(enumerate(labels))
        facts["label2id"] = {label: index for index, label in enumerate(labels)}
    if attn_implementation is not None:
        facts["attn_implementation"] = attn_implementation
    return BertConfig(**facts)


def assemble(architecture: type[PreTrainedModel], config: BertConfig, state: State) -> PreTrainedModel:
    """A model around the given weights: built empty, so that random initialisation costs nothing."""
    with torch.device("meta"):
        model: Any = architecture(config)
    wanted = model.state_dict().keys()
    model.load_state_dict({name: state[name] for name in state if name in wanted}, strict=False, assign=True)
    model.tie_weights()
    fill_buffers(model, config)
    left = [name for name, tensor in model.named_parameters() if tensor.is_meta]
    if left:
        raise ValueError(f"weights are missing for {', '.join(left)}")
    model.eval()
    return cast(PreTrainedModel, model)


def fill_buffers(model: Any, config: BertConfig) -> None:
    """Position and segment numbers are not stored: count them again."""
    embeddings = model.bert.embeddings
    embeddings.position_ids = torch.arange(config.max_position_embeddings)[None]
    embeddings.token_type_ids = torch.zeros_like(embeddings.position_ids)


def tokenizer(path: Path) -> BertTokenizer:
    """An ordinary fast tokenizer, without the padding and truncation that the base encoder's file carries."""
    return BertTokenizer(tokenizer_object=Tokenizer.from_file(str(path)), model_max_length=512, **SPECIAL)
