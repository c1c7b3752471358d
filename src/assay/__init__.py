"""Assay explains what a text model did, and tests whether the explanation can be trusted.

import assay
model = assay.load("sst2")
e = assay.explain(model, "a gripping , funny film", "integrated_gradients")
d = assay.describe(model, "reviews.csv", "sp_lime", picks=5)
v = assay.check(model, texts, methods=["leave_one_out"], checks=["deletion"])
card = assay.trust(model, "a gripping , funny film")
run = assay.open("DIR")
"""

from __future__ import annotations

import assay.views  # noqa: F401 - the views register themselves for what they draw
from assay.checks.roar import RoarResult
from assay.errors import AssayError
from assay.explanations.base import Explanation
from assay.explanations.behavior import Behavior
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.explanations.effects import Effects
from assay.explanations.examples import Examples
from assay.explanations.explanation_list import Explanations
from assay.explanations.loadings import Loadings
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.projection import Projection
from assay.explanations.rationale import Rationale
from assay.explanations.rules import Rules
from assay.explanations.selection import Selection
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_matrix import TokenMatrix
from assay.explanations.token_rule import TokenRule
from assay.explanations.token_scores import TokenScores
from assay.explanations.triggers import Triggers
from assay.models import BlackBox, TextModel, load
from assay.questions.erasers import Delete, Eraser, Mask, Pad, Resample, Unknown
from assay.runs import open_run as open
from assay.statistics.verdict import Verdict
from assay.text.sample import Sample
from assay.text.text import Text
from assay.verbs import describe, explain, stream
from assay.verdicts.given import given
from assay.verdicts.judge import check
from assay.verdicts.sample_verbs import guided_mlp, roar, seed_variance, trained_adversary, uniform_attention
from assay.verdicts.trust import TrustCard, trust
from assay.verdicts.verdict_list import Verdicts
from assay.workflows.audit import AttentionAudit, audit_attention
from assay.workflows.indexing import index
from assay.workflows.mend import mend
from assay.workflows.mend.result import MendResult
from assay.workflows.mend_labels import LabelMending, mend_labels
from assay.workflows.model_audit import ModelAudit, audit

__version__ = "0.1.0"

__all__ = [
    "AssayError",
    "AttentionAudit",
    "Behavior",
    "BlackBox",
    "Case",
    "Delete",
    "Edit",
    "Edits",
    "Effects",
    "Eraser",
    "Examples",
    "Explanation",
    "Explanations",
    "LabelMending",
    "Loadings",
    "Mask",
    "MendResult",
    "ModelAudit",
    "Pad",
    "ProbeScores",
    "Projection",
    "Rationale",
    "Resample",
    "RoarResult",
    "Rules",
    "Sample",
    "Selection",
    "Text",
    "TextExplanation",
    "TextModel",
    "TokenMatrix",
    "TokenRule",
    "TokenScores",
    "Triggers",
    "TrustCard",
    "Unknown",
    "Verdict",
    "Verdicts",
    "audit",
    "audit_attention",
    "check",
    "describe",
    "explain",
    "given",
    "guided_mlp",
    "index",
    "load",
    "mend",
    "mend_labels",
    "open",
    "roar",
    "seed_variance",
    "stream",
    "trained_adversary",
    "trust",
    "uniform_attention",
]
