"""Small models that learn planted shortcuts in seconds on a CPU: a bag of words, and a transformer over whole words.

model = load(fit_bag(examples))              scikit-learn; enough for a single planted token
model = load(fit_transformer(examples))      for reasons that lie in order or context

"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from assay.data.shortcuts import Shortcut, corpus, reviews
from assay.errors import BadInput
from assay.text.example import Example

_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def fit_bag(examples: Sequence[Example]) -> Any:
    """Logistic regression on which words are there."""
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import, and only wanted here
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = _columns(examples)
    words = CountVectorizer(binary=True, lowercase=False, token_pattern=r"\S+")
    return make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000)).fit(texts, labels)


def fit_transformer(
    examples: Sequence[Example], *, steps: int = 400, batch: int = 64, rate: float = 2e-3, size: int = 48, seed: int = 0
) -> tuple[Any, Any]:
    """A two-layer BERT of its own vocabulary, as (model, tokenizer)."""
    texts, labels = _columns(examples)
    names = sorted(set(labels))
    tokenizer = _tokenizer(texts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _network(tokenizer, names, size)
        _train(model, tokenizer, texts, torch.tensor([names.index(label) for label in labels]), steps, batch, rate)
    return model.eval(), tokenizer


@cache
def transformer_of(shortcut: Shortcut) -> tuple[Any, Any]:
    """The transformer that learned this shortcut from 2,000 reviews; trained once in a process, for all tests of it."""
    return fit_transformer(corpus(reviews(2000), shortcut))


def _columns(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    texts, labels = [e.strings[0] for e in examples], [e.label for e in examples if e.label is not None]
    if len(labels) != len(texts) or len(set(labels)) < 2:
        raise BadInput("a model learns from texts that all have a label, of at least two labels.")
    return texts, labels


def _tokenizer(texts: Sequence[str]) -> Any:
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = dict.fromkeys([*_SPECIALS, *(word for text in texts for word in text.split())])
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(token, inner.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    inner.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    kinds = ("pad", "unk", "cls", "sep", "mask")
    named = {f"{kind}_token": token for kind, token in zip(kinds, _SPECIALS, strict=True)}
    longest = max(len(text.split()) for text in texts) + 2
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=max(64, longest), **named)


def _network(tokenizer: Any, names: Sequence[str], size: int) -> Any:
    import transformers as hf

    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=size,
        intermediate_size=2 * size,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=tokenizer.model_max_length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )
    return hf.BertForSequenceClassification(config)


def _train(
    model: Any, tokenizer: Any, texts: Sequence[str], labels: Tensor, steps: int, batch: int, rate: float
) -> None:
    """Adam with a rate that rises for a tenth of the steps and then falls to nothing."""
    inputs = tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.1)
    model.train()
    for _ in range(steps):
        rows = torch.randint(len(labels), (batch,))
        loss = model(**{name: tensor[rows] for name, tensor in inputs.items()}, labels=labels[rows]).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
