"""Other names of methods and checks: in any case, with hyphens or blanks, and as other libraries call them."""

from __future__ import annotations

from collections.abc import Collection

_METHODS = {
    "attnlrp": "attn_lrp",
    "behavioral": "behavioral_probe",
    "compositional": "compositional_neurons",
    "grad": "gradient",
    "gradient_x_input": "input_x_gradient",
    "ig": "integrated_gradients",
    "im": "input_marginalization",
    "influence": "influence_functions",
    "kernelshap": "kernel_shap",
    "inputxgradient": "input_x_gradient",
    "loo": "leave_one_out",
    "lrp": "attn_lrp",
    "nie": "natural_indirect_effect",
    "occlusion": "leave_one_out",
    "partitionshap": "partition_shap",
    "project": "projection",
    "representer": "representer_points",
    "rollout": "attention_rollout",
    "rotate": "rotation",
    "saliency": "gradient",
    "shap": "kernel_shap",
    "smoothgrad": "smooth_grad",
    "splime": "sp_lime",
    "structural": "structural_probe",
    "triggers": "universal_triggers",
}


def usual_name(given: str, known: Collection[str]) -> str:
    """The name as it is registered; what is not known stays as it was given, for the error to say."""
    plain = "_".join(given.strip().lower().replace("-", " ").split())
    return next((name for name in (given, plain, _METHODS.get(plain, "")) if name in known), given)
