"""Tiny models and tokenizers, built here and never downloaded: one builder per family, each built once per process.

    model, tokenizer = tiny.bert()              a sequence classifier and its tokenizer
    for name, build in tiny.FAMILIES.items()    every family of tokenizer, each with a model of its kind
    bow = tiny.linear_bow()                     a model whose log-odds are a sum of known word weights

The objects are shared by all tests: whoever changes one works on a deepcopy. Everything is the same in every process;
the trainers of WordPiece and Unigram are not, so those two get their vocabulary from counts of substrings.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
import transformers as hf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

Pair = tuple[Any, Any]
WINDOW = 64

CORPUS: tuple[str, ...] = (
    "a gripping , funny film that never lets go of its audience .",
    "The plot was dull, the acting worse; I wouldn't watch it again!",
    "An utterly charming comedy with a big heart and a sharp tongue.",
    "It's not good, it's not bad: it's just there (and that is that).",
    "She paid $12.50 for two tickets on 3 May 2021 -- a bargain?",
    "Don't panic! The best scenes come after the first hour, or so they say...",
    "A man in a red shirt is playing a guitar on the street.",
    "Nobody is playing music outside; the street is empty.",
    "Two dogs run through the tall grass, chasing a yellow ball.",
    "The year's best and most unpredictable comedy, hands down.",
    "naïve café owners served crème brûlée to the señor from São Paulo",
    "Übermäßig lange Filme sind selten gut, aber dieser ist schön.",
    "東京タワーはとても高いです。 私は映画が好きです。",
    "这部电影非常好看，我很喜欢。",
    "фильм был скучным и длинным, но музыка хорошая",
    "كان الفيلم جميلا جدا والموسيقى رائعة",
    "ภาพยนตร์เรื่องนี้สนุกมาก",
    "great film 🙂👍🏽 would watch again 🎬🎬 #movies @cinema",
    "A slow, sad and strangely beautiful story about loss.",
    "The acting is wooden, the script is worse, and the ending makes no sense.",
    "this is a very very very good film",
    "unwatchable rubbish from beginning to end",
    "One of the funniest, warmest and cleverest films of the decade.",
    "The children laughed, the parents cried, and everyone went home happy.",
    "I have seen better special effects in a school play.",
    "A triumph of style over substance, yet what style!",
    'He said: "never again", and he meant it.',
    "They can't act, they won't act, they shouldn't act.",
    "x.y,z a_b 1st 2nd 100% 3.14 e-mail well-known",
    "quick brown foxes jump over lazy dogs while judges vex",
)


def trained(model: Any, trainer: Any, before: Any) -> Tokenizer:
    """A tokenizer of this kind, trained on the corpus."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = before
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def substrings(words: Iterable[str], most: int = 200) -> tuple[list[str], Counter[tuple[bool, str]]]:
    """The characters of the words, and their frequent parts of 2 to 6 characters: (at the start of a word?, part)."""
    listed = list(words)
    cuts = ((word, i, j) for word in listed for i in range(len(word)) for j in range(i + 2, min(len(word), i + 6) + 1))
    parts = Counter((i == 0, word[i:j]) for word, i, j in cuts)
    frequent = sorted(parts, key=lambda part: (-parts[part] * len(part[1]), part))[:most]
    return sorted({c for word in listed for c in word}), Counter({part: parts[part] for part in frequent})


@cache
def wordpiece(lowercase: bool = True) -> Any:
    """WordPiece as BERT has it."""
    normalizer, before = normalizers.BertNormalizer(lowercase=lowercase), pre_tokenizers.BertPreTokenizer()
    lines = map(normalizer.normalize_str, CORPUS)
    characters, parts = substrings(word for line in lines for word, _ in before.pre_tokenize_str(line))
    pieces = [part if at_start else f"##{part}" for at_start, part in parts]
    vocab = [*BERT_SPECIALS, *characters, *(f"##{c}" for c in characters), *pieces]
    ids = {piece: i for i, piece in enumerate(vocab)}
    return hf.BertTokenizer(vocab=ids, do_lower_case=lowercase, model_max_length=WINDOW)


def _byte_pairs(specials: list[str]) -> tuple[dict[str, int], list[str]]:
    """Vocabulary and merges of a byte-level BPE."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer = trained(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=False))
    state = _state(tokenizer)["model"]
    return state["vocab"], [tuple(merge) for merge in state["merges"]]


def _state(tokenizer: Tokenizer) -> dict[str, Any]:
    return dict(json.loads(tokenizer.to_str()))


@cache
def byte_level(prefix: bool = False) -> Any:
    """Byte-level BPE as RoBERTa has it; its mask token swallows the blank before it."""
    vocab, merges = _byte_pairs(ROBERTA_SPECIALS)
    mask = AddedToken("<mask>", lstrip=True, special=True)
    # No model_max_length: the window has to come from the model's own positions.
    return hf.RobertaTokenizer(vocab=vocab, merges=merges, add_prefix_space=prefix, mask_token=mask)


@cache
def byte_level_without_pad() -> Any:
    """Byte-level BPE as GPT-2 has it: no special tokens around a text, none for padding."""
    vocab, merges = _byte_pairs(["<|endoftext|>"])
    return hf.GPT2Tokenizer(vocab=vocab, merges=merges, model_max_length=WINDOW)


def unigrams(specials: list[str], normalizer: Any = None) -> list[tuple[str, float]]:
    """Pieces and their log-probabilities; a piece at the start of a word carries its blank."""
    lines = [normalizer.normalize_str(line) if normalizer else line for line in CORPUS]
    characters, parts = substrings(word for line in lines for word in line.split())
    total = parts.total()
    scored = {f"▁{part}" if at_start else part: math.log(count / total) for (at_start, part), count in parts.items()}
    rare = {piece: -12.0 - 0.01 * i for i, piece in enumerate(["▁", *characters])}
    return [*((special, 0.0) for special in specials), *(rare | scored).items()]


@cache
def unigram_xlm() -> Any:
    """Unigram with Metaspace after a split at white space, as XLM-R has it."""
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return hf.XLMRobertaTokenizer(vocab=unigrams(ROBERTA_SPECIALS), mask_token=mask, model_max_length=WINDOW)


@cache
def unigram_albert() -> Any:
    """Unigram with Metaspace and a normaliser that replaces strings, as ALBERT has it."""
    normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    vocab = unigrams(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], normalizer)
    return hf.AlbertTokenizer(vocab=vocab, model_max_length=WINDOW)


@cache
def unigram_metaspace() -> Any:
    """Unigram with Metaspace alone, which keeps every blank, as T5 and DeBERTa have it."""
    normalizer = normalizers.NFKC()
    tokenizer = Tokenizer(models.Unigram(unigrams(BERT_SPECIALS, normalizer), unk_id=1))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    return wrapped(tokenizer)


@cache
def word_level(punctuation: bool = False) -> Any:
    """Whole words, split at white space, or also at punctuation."""
    before = pre_tokenizers.Whitespace() if punctuation else pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordLevelTrainer(vocab_size=400, special_tokens=BERT_SPECIALS, show_progress=False)
    return wrapped(trained(models.WordLevel(unk_token="[UNK]"), trainer, before))


@cache
def split_regex() -> Any:
    """Byte-level BPE behind a pattern of its own, as the newer decoders have it; blanks may stay on the left word."""
    pattern = pre_tokenizers.Split(Regex(r"\w+ ?|[^\w\s]+ ?|\s+"), "isolated")
    before = pre_tokenizers.Sequence([pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=450, special_tokens=BERT_SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    return wrapped(trained(models.BPE(unk_token="[UNK]"), trainer, before))


def wrapped(tokenizer: Tokenizer) -> Any:
    """Special tokens around one text and a pair, as BERT puts them."""
    around = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=around
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=WINDOW,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


class SlowWords(hf.PreTrainedTokenizer):
    """A tokenizer written in Python: it cannot say where its pieces stand."""

    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012

    def __init__(self, **kwargs: Any) -> None:
        words = sorted({word for line in CORPUS for word in line.split()})
        self._words = {word: i for i, word in enumerate([*BERT_SPECIALS, *words])}
        super().__init__(
            pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]", **kwargs
        )

    @property
    def vocab_size(self) -> int:
        return len(self._words)

    def get_vocab(self) -> dict[str, int]:
        return dict(self._words)

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return text.split()

    def _convert_token_to_id(self, token: str) -> int:
        return self._words.get(token, 1)

    def _convert_id_to_token(self, index: int) -> str:
        return list(self._words)[index]


_SMALL = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def seeded(build: Callable[[], Any], seed: int = 7) -> Any:
    """A model with the same weights every time, in evaluation mode; the global generator stays as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return build().eval()


def _settings(tokenizer: Any, **more: Any) -> dict[str, Any]:
    # Wide weights, so that predictions differ between texts.
    return {"vocab_size": len(tokenizer), "initializer_range": 0.3, "num_labels": 3, **more}


@cache
def bert(cased: bool = False, num_labels: int = 3, problem: str | None = None) -> Pair:
    tokenizer = wordpiece(not cased)
    return _bert_model(tokenizer, num_labels=num_labels, problem_type=problem), tokenizer


def _bert_model(tokenizer: Any, **more: Any) -> Any:
    settings = _settings(tokenizer, **_SMALL, max_position_embeddings=WINDOW, pad_token_id=tokenizer.pad_token_id)
    return seeded(lambda: hf.BertForSequenceClassification(hf.BertConfig(**(settings | more))))


@cache
def roberta(prefix: bool = False) -> Pair:
    tokenizer = byte_level(prefix)
    config = hf.RobertaConfig(
        **_settings(tokenizer, **_SMALL), max_position_embeddings=WINDOW + 2, type_vocab_size=1, pad_token_id=1
    )
    return seeded(lambda: hf.RobertaForSequenceClassification(config)), tokenizer


@cache
def distilbert() -> Pair:
    tokenizer = wordpiece(True)
    # Narrower weights: with wide ones its float32 rounding alone exceeds 1e-6.
    config = hf.DistilBertConfig(
        **_settings(tokenizer, initializer_range=0.2),
        dim=24,
        n_layers=2,
        n_heads=2,
        hidden_dim=32,
        max_position_embeddings=WINDOW,
    )
    return seeded(lambda: hf.DistilBertForSequenceClassification(config)), tokenizer


@cache
def xlm_roberta() -> Pair:
    tokenizer = unigram_xlm()
    config = hf.XLMRobertaConfig(
        **_settings(tokenizer, **_SMALL), max_position_embeddings=WINDOW + 2, type_vocab_size=1, pad_token_id=1
    )
    return seeded(lambda: hf.XLMRobertaForSequenceClassification(config)), tokenizer


@cache
def albert() -> Pair:
    tokenizer = unigram_albert()
    config = hf.AlbertConfig(
        **_settings(tokenizer, **_SMALL), embedding_size=16, max_position_embeddings=WINDOW, pad_token_id=0
    )
    return seeded(lambda: hf.AlbertForSequenceClassification(config)), tokenizer


@cache
def deberta() -> Pair:
    tokenizer = unigram_metaspace()
    config = hf.DebertaV2Config(
        **_settings(tokenizer, **_SMALL),
        max_position_embeddings=WINDOW,
        relative_attention=True,
        position_buckets=8,
        pos_att_type=["p2c", "c2p"],
        type_vocab_size=2,
        pad_token_id=tokenizer.pad_token_id,
    )
    return seeded(lambda: hf.DebertaV2ForSequenceClassification(config)), tokenizer


@cache
def words(punctuation: bool = False) -> Pair:
    tokenizer = word_level(punctuation)
    return _bert_model(tokenizer), tokenizer


@cache
def split_bert() -> Pair:
    tokenizer = split_regex()
    return _bert_model(tokenizer), tokenizer


@cache
def slow() -> Pair:
    tokenizer = SlowWords(model_max_length=WINDOW)
    return _bert_model(tokenizer), tokenizer


@cache
def gpt2() -> Pair:
    """A decoder without a padding token."""
    tokenizer = byte_level_without_pad()
    config = hf.GPT2Config(**_settings(tokenizer), n_embd=24, n_layer=2, n_head=2, n_positions=WINDOW)
    return seeded(lambda: hf.GPT2ForSequenceClassification(config)), tokenizer


@cache
def attentive(encoder: str = "lstm", attention: str = "additive", num_labels: int = 3, pair: bool = False) -> Pair:
    """An encoder, one attention, a decoder; the vocabulary is that of the corpus. Its attention is far from uniform."""
    from assay.models.own.attentive import AttentiveConfig, AttentiveForSequenceClassification
    from assay.models.own.attentive import words as whole_words

    tokenizer = whole_words([(text,) for text in CORPUS])
    config = AttentiveConfig(
        encoder=encoder,  # type: ignore[arg-type]
        attention=attention,  # type: ignore[arg-type]
        vocab_size=len(tokenizer),
        embedding_size=12,
        hidden_size=16,
        num_labels=num_labels,
        pair=pair,
    )
    network = seeded(lambda: AttentiveForSequenceClassification(config))
    for tensor in network.attention.parameters():
        tensor.data *= 6
    return network, tokenizer


def bilstm(encoder: Any) -> nn.LSTM:
    """Torch's own bidirectional layer with the weights of an attentive encoder."""
    on, back = encoder.forwards, encoder.backwards
    lstm = nn.LSTM(on.input_size, on.hidden_size, batch_first=True, bidirectional=True).to(on.weight_ih_l0)
    lstm.load_state_dict(on.state_dict() | {f"{name}_reverse": tensor for name, tensor in back.state_dict().items()})
    return lstm


FAMILIES: Mapping[str, Callable[[], Pair]] = {
    "bert": bert,
    "bert_cased": lambda: bert(cased=True),
    "roberta": roberta,
    "roberta_prefix": lambda: roberta(prefix=True),
    "distilbert": distilbert,
    "xlm_roberta": xlm_roberta,
    "albert": albert,
    "deberta": deberta,
    "words": words,
    "words_punctuation": lambda: words(punctuation=True),
    "split_regex": split_bert,
    "gpt2": gpt2,
}


@cache
def masked_lm(family: str = "bert") -> Pair:
    """A masked language model: bert, bert_cased, roberta or distilbert."""
    if family == "roberta":
        tokenizer = byte_level()
        config = hf.RobertaConfig(
            **_settings(tokenizer, **_SMALL), max_position_embeddings=WINDOW + 2, type_vocab_size=1, pad_token_id=1
        )
        return seeded(lambda: hf.RobertaForMaskedLM(config)), tokenizer
    tokenizer = wordpiece(family != "bert_cased")
    if family == "distilbert":
        sizes = {"dim": 24, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": WINDOW}
        return seeded(lambda: hf.DistilBertForMaskedLM(hf.DistilBertConfig(**_settings(tokenizer), **sizes))), tokenizer
    settings = _settings(tokenizer, **_SMALL, max_position_embeddings=WINDOW)
    return seeded(lambda: hf.BertForMaskedLM(hf.BertConfig(**settings))), tokenizer


class BagConfig(hf.PretrainedConfig):
    """The settings of the bag of words."""

    model_type = "bag"


class BagForSequenceClassification(nn.Module):
    """Logits [0, sum of the weights of the tokens]: the log-odds of label 1 are exactly that sum.

    A token's weight is the dot product of its embedding with a fixed direction.
    """

    def __init__(self, table: Tensor, direction: Tensor, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding.from_pretrained(table, freeze=False)
        self.register_buffer("direction", direction)

    def get_input_embeddings(self) -> nn.Module:
        return self.embedding

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SequenceClassifierOutput:
        weights = self.embedding(input_ids) @ self.direction
        total = (weights * attention_mask).sum(-1)
        return SequenceClassifierOutput(logits=torch.stack([torch.zeros_like(total), total], dim=-1))


class Bow(NamedTuple):
    """The model, its tokenizer, and the true weight of every word; unknown words and special tokens weigh nothing."""

    model: Any
    tokenizer: Any
    weights: dict[str, float]


@cache
def linear_bow(double: bool = False) -> Bow:
    """A linear bag of words over the corpus, in float32 or float64."""
    tokenizer = word_level(punctuation=True)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        table = torch.randn(len(tokenizer), 4, dtype=torch.float64)
    direction = torch.tensor([0.5, -0.3, 0.2, 0.1], dtype=torch.float64)
    specials = [i for i, token in enumerate(tokenizer.convert_ids_to_tokens(range(len(tokenizer)))) if token[0] == "["]
    table[[i for i in specials if i < len(BERT_SPECIALS)]] = 0
    dtype = torch.float64 if double else torch.float32
    config = BagConfig(num_labels=2, pad_token_id=tokenizer.pad_token_id, max_position_embeddings=WINDOW)
    model = BagForSequenceClassification(table.to(dtype), direction.to(dtype), config).eval()
    sums = (model.embedding.weight.detach().double() @ direction).tolist()
    # Sorted, as a vocabulary comes in another order in every process.
    return Bow(model, tokenizer, {word: sums[i] for word, i in sorted(tokenizer.get_vocab().items())})


@cache
def token_tagger(family: str = "bert") -> Pair:
    """A token classifier with tags O, PER and LOC: bert, roberta or xlm_roberta."""
    tags = {"id2label": {0: "O", 1: "PER", 2: "LOC"}, "label2id": {"O": 0, "PER": 1, "LOC": 2}}
    if family == "bert":
        tokenizer = wordpiece()
        settings = _settings(tokenizer, **_SMALL, max_position_embeddings=WINDOW) | tags
        return seeded(lambda: hf.BertForTokenClassification(hf.BertConfig(**settings))), tokenizer
    tokenizer = byte_level() if family == "roberta" else unigram_xlm()
    config, model = {
        "roberta": (hf.RobertaConfig, hf.RobertaForTokenClassification),
        "xlm_roberta": (hf.XLMRobertaConfig, hf.XLMRobertaForTokenClassification),
    }[family]
    settings = _settings(tokenizer, **_SMALL, max_position_embeddings=WINDOW + 2, type_vocab_size=1, pad_token_id=1)
    return seeded(lambda: model(config(**(settings | tags)))), tokenizer


@cache
def causal_lm(family: str = "gpt2") -> Pair:
    """A decoder: gpt2 (neither padding nor begin token), llama (Metaspace, a begin token), bert ([CLS] text [SEP])."""
    if family == "gpt2":
        tokenizer = byte_level_without_pad()
        ends = {"bos_token_id": 0, "eos_token_id": 0}
        settings = _settings(tokenizer, n_embd=24, n_layer=2, n_head=2, n_positions=WINDOW, **ends)
        return seeded(lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**settings))), tokenizer
    tokenizer = metaspace_with_begin() if family == "llama" else wordpiece()
    settings = _settings(tokenizer, **_SMALL, max_position_embeddings=WINDOW, pad_token_id=tokenizer.pad_token_id)
    if family == "llama":
        ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        return seeded(lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**settings, **ends))), tokenizer
    return seeded(lambda: hf.BertLMHeadModel(hf.BertConfig(**settings, is_decoder=True))), tokenizer


@cache
def metaspace_with_begin() -> Any:
    """Unigram with Metaspace and a begin token before a text, as Llama has it."""
    specials = ["<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.Unigram(unigrams(specials), unk_id=0))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, model_max_length=WINDOW)


@cache
def seq2seq(family: str = "t5") -> Pair:
    """An encoder-decoder: t5 (relative positions, text </s>) or bart (<s> text </s>, scaled embeddings)."""
    if family == "bart":
        tokenizer = byte_level()
        config = hf.BartConfig(
            vocab_size=len(tokenizer), d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=WINDOW,
            init_std=0.3, scale_embedding=True, bos_token_id=0, pad_token_id=1, eos_token_id=2,
            decoder_start_token_id=2, forced_eos_token_id=None,
        )  # fmt: skip
        return seeded(lambda: hf.BartForConditionalGeneration(config)), tokenizer
    specials = ["<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram(unigrams(specials), unk_id=2))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    wrapper = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, model_max_length=WINDOW)
    config = hf.T5Config(
        vocab_size=len(wrapper), d_model=24, d_kv=12, d_ff=32, num_layers=2, num_heads=2, initializer_factor=1.0,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    return seeded(lambda: hf.T5ForConditionalGeneration(config)), wrapper


def llama() -> tuple[Any, Any]:
    """RMSNorm, rotary positions, gated feed-forward layers, fewer key heads than query heads."""
    tokenizer = word_level()
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=24,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        num_labels=3,
        initializer_range=0.3,
        pad_token_id=tokenizer.pad_token_id,
    )
    return seeded(lambda: hf.LlamaForSequenceClassification(config)), tokenizer
