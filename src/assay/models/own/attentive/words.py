"""A vocabulary of whole words, as a tokenizer of transformers.

Lower case, every token with a digit is `qqq` (but for the anonymous `@entity7` of CNN), contractions are cut as in
treebanks (do n't, film 's), each mark stands alone, a text stands between two edges; words that fewer than `rarest`
training texts have are unknown (Jain and Wallace 2019). Ids 0 to 3 are padding, unknown and edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from assay.errors import BadInput

PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<sos>", "<eos>"
_NUMBER = r"(?<![@\p{L}\p{N}])[^\s\p{P}\p{S}]*\d[^\s\p{P}\p{S}]*"
_TOKEN = r"@entity\d+|n['’]t(?!\w)|['’](?:s|re|ve|ll|d|m)(?!\w)|(?:(?!n['’]t(?!\w))[^\s\p{P}\p{S}])+|[\p{P}\p{S}]"
_SPECIAL = (PAD, UNKNOWN, START, END)


def words(texts: Iterable[Sequence[str]], *, rarest: int = 1, also: Iterable[str] = ()) -> Any:
    """The tokenizer of these texts (each of one string or of two); `also` are words to know in any case."""
    draft = _tokenizer({})
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({word for string in text for word in _cut(draft, string)})
    known = [word for word, count in sorted(counts.items()) if count >= rarest and word not in _SPECIAL]
    listed = list(dict.fromkeys([*_SPECIAL, *also, *known]))
    if len(listed) == len(_SPECIAL):
        raise BadInput(f"no word occurs in {rarest} or more of the texts: there is no vocabulary to learn.")
    return _fast({word: i for i, word in enumerate(listed)})


def _fast(vocabulary: dict[str, int]) -> Any:
    tokenizer = _tokenizer(vocabulary)
    edges = [(START, vocabulary[START]), (END, vocabulary[END])]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{START} $A {END}", pair=f"{START} $A {END} {START}:1 $B:1 {END}:1", special_tokens=edges
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        bos_token=START,
        eos_token=END,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex(_NUMBER), "qqq")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(_TOKEN), "isolated")]
    )
    return tokenizer


def _cut(tokenizer: Tokenizer, string: str) -> list[str]:
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(string))]
