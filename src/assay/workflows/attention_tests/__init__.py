"""Tests of attention that train models: four questions before attention is taken for an explanation, or dismissed.

    uniform_attention    is it needed at all?
    seed_variance        how much does it change by chance?
    guided_mlp           does it tell a simpler model which words matter?
    trained_adversary    can a model say the same and look elsewhere?

Wiegreffe and Pinter (2019), Attention is not not Explanation, arXiv:1908.04626.
"""

from __future__ import annotations

from assay.workflows.attention_tests.guided_mlp import GuidedResult as GuidedResult
from assay.workflows.attention_tests.guided_mlp import guided_mlp as guided_mlp
from assay.workflows.attention_tests.seed_variance import SeedResult as SeedResult
from assay.workflows.attention_tests.seed_variance import seed_variance as seed_variance
from assay.workflows.attention_tests.trained_adversary import AdversaryResult as AdversaryResult
from assay.workflows.attention_tests.trained_adversary import trained_adversary as trained_adversary
from assay.workflows.attention_tests.uniform_attention import UniformResult as UniformResult
from assay.workflows.attention_tests.uniform_attention import uniform_attention as uniform_attention
