"""A small reader after DrQA: the answer to a question as a span of a paragraph.

Chen et al. (2017), arXiv:1704.00051. A transformers model with a tokenizer of whole words, so everything that Assay
does with a span reader it does with it.
"""

from __future__ import annotations

from assay.models.architecture import Architecture
from assay.models.transformers.tasks.span_reader import SpanReader
from assay_studies.models.drqa.config import DrqaConfig as DrqaConfig
from assay_studies.models.drqa.network import DrqaForQuestionAnswering as DrqaForQuestionAnswering

DRQA = Architecture(config=DrqaConfig, network=DrqaForQuestionAnswering, purpose="QuestionAnswering", task=SpanReader)
