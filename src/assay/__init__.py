"""Assay explains what a text model did, and tests whether the explanation can be trusted.

import assay
model = assay.load("sst2")
e = assay.explain(model, "a gripping , funny film", "integrated_gradients")
v = assay.check(model, texts, methods=["leave_one_out"], checks=["deletion"])
card = assay.trust(model, "a gripping , funny film")
run = assay.open("DIR")
"""

from __future__ import annotations

from assay.attention_tests import guided_mlp, seed_variance, trained_adversary, uniform_attention
from assay.audit import AttentionAudit, audit_attention
from assay.edits import Edit, Edits
from assay.erasers import Delete, Eraser, Mask, Pad, Resample, Unknown
from assay.errors import AssayError
from assay.explanation import Case, Explanation, TokenScores
from assay.judging import check
from assay.mend import mend
from assay.mend.result import MendResult
from assay.models import BlackBox, TextModel, load
from assay.roar import roar
from assay.roar.result import RoarResult
from assay.rule import TokenRule
from assay.runs import open_run as open
from assay.text import Text
from assay.trust import TrustCard, trust
from assay.verbs import explain, stream
from assay.verdict import Verdict

__version__ = "0.1.0"

__all__ = [
    "AssayError",
    "AttentionAudit",
    "BlackBox",
    "Case",
    "Delete",
    "Edit",
    "Edits",
    "Eraser",
    "Explanation",
    "Mask",
    "MendResult",
    "Pad",
    "Resample",
    "RoarResult",
    "Text",
    "TextModel",
    "TokenRule",
    "TokenScores",
    "TrustCard",
    "Unknown",
    "Verdict",
    "audit_attention",
    "check",
    "explain",
    "guided_mlp",
    "load",
    "mend",
    "open",
    "roar",
    "seed_variance",
    "stream",
    "trained_adversary",
    "trust",
    "uniform_attention",
]
