"""A small reader after DrQA: the answer to a question as a span of a paragraph.

Chen et al. (2017), arXiv:1704.00051. A transformers model with a tokenizer of whole words, so everything that Assay
does with a span reader it does with it.
"""

from __future__ import annotations

from assay.models.own.reader.adapter import Drqa as Drqa
from assay.models.own.reader.config import DrqaConfig as DrqaConfig
from assay.models.own.reader.network import DrqaForQuestionAnswering as DrqaForQuestionAnswering
