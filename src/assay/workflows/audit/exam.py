"""The audit of one text, as one conversation: all that Jain and Wallace (2019) ask of an attention, arXiv:1902.10186.

    a      the attention of the words among themselves
    g_t    = | x_t . d p_c / d x_t |, divided by its sum; no gradient flows through the attention     Algorithm 1
    d_t    = TVD( y(x without word t), y(x) )                                                         section 4.1
    tau-b between a, g and d; the median permutation (Algorithm 2); the epsilon-max JSD (Algorithm 3)

c is the predicted label. A word without pieces, or one that the model never attends to, has no weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.checks.adversarial_attention import AdversarialAttention
from assay.checks.attention_permutation import AttentionPermutation
from assay.explanations.case import Case
from assay.methods.input_features.attention import AttentionWeights
from assay.questions.answers import changes
from assay.questions.base import Conversation, elsewhere
from assay.questions.erasers import Delete, each
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.statistics.divergence import distribution
from assay.statistics.ranks import Tau, kendall, ordered
from assay.workflows.audit.audited import AuditedText

CUT = "@cut_attention"


@dataclass(frozen=True, kw_only=True)
class Exam:
    """Reads like a method: it explains a case by its attention, and says besides what that is worth.

    `cut` says whether the model has a version in which no gradient flows through the attention.
    """

    permutation: AttentionPermutation = AttentionPermutation()
    adversary: AdversarialAttention = AdversarialAttention()
    cut: bool = True

    def explain(self, case: Case) -> Conversation[AuditedText]:
        looked = yield from AttentionWeights(layer=self.permutation.layer, head=self.permutation.head).explain(case)
        own = distribution(looked.scores)
        slopes = yield from elsewhere(gradient(case), CUT) if self.cut else gradient(case)
        lost = yield from leave_one_out(case)
        # Each begins the text's randomness anew: the same numbers as from the checks alone.
        shuffled = yield from self.permutation.shuffle(case.text, own, case.generator())
        attacked = yield from self.adversary.attack(case.text, own, case.generator())
        best = attacked.best
        return AuditedText(
            case,
            own,
            gradient=slopes,
            leave_one_out=lost,
            adversary=attacked.weights[best],
            taus=taus(own, slopes, lost, random_map(case)),
            median_tvd=shuffled.median,
            jsd=float(attacked.apart[best]),
            adversary_tvd=float(attacked.moved[best]),
            within=int(attacked.kept[1:].sum()),
            placed=shuffled.placed,
        )


def gradient(case: Case) -> Conversation[Floats]:
    """The sizes of input x gradient of the label's probability, their sum being 1; all zero where nothing moves it."""
    aim = replace(case, scalar="probability", against=None).aim
    (found,) = yield InputGradient(case.text, aim=aim, reduce="dot")
    sizes = np.abs(found.scores[0])
    return np.asarray(sizes / sizes.sum() if sizes.sum() > 0 else sizes)


def leave_one_out(case: Case) -> Conversation[Floats]:
    """How far the answer moves without each word."""
    without = yield from Delete().erase(case.text, each(len(case.text)))
    answers = yield Predict(case.text, without)
    return changes(answers[1:], answers[:1])


def random_map(case: Case) -> Floats:
    return np.random.default_rng([case.seed, case.text.seed, 2]).random(len(case.text))


def taus(own: Floats, slopes: Floats, lost: Floats, chance: Floats) -> dict[str, Tau | None]:
    pairs = {
        "attention_gradient": (own, slopes),
        "attention_loo": (own, lost),
        "gradient_loo": (slopes, lost),
        "random_gradient": (chance, slopes),
        "random_loo": (chance, lost),
    }
    return {name: tau(*maps) for name, maps in pairs.items()}


def tau(one: Floats, other: Floats) -> Tau | None:
    """None where a map has no order: then there is no correlation, which is not one of zero."""
    return kendall(one, other) if ordered(one) and ordered(other) else None
