"""Other names of methods and checks: in any case, with hyphens or blanks, and as other libraries call them."""

from __future__ import annotations

from collections.abc import Collection

_METHODS = {
    "attnlrp": "attn_lrp",
    "grad": "gradient",
    "gradient_x_input": "input_x_gradient",
    "ig": "integrated_gradients",
    "im": "input_marginalization",
    "influence": "influence_functions",
    "kernelshap": "kernel_shap",
    "loo": "leave_one_out",
    "occlusion": "leave_one_out",
    "partitionshap": "partition_shap",
    "representer": "representer_points",
    "rollout": "attention_rollout",
    "saliency": "gradient",
    "shap": "kernel_shap",
    "smoothgrad": "smooth_grad",
    "splime": "sp_lime",
}


def usual_name(given: str, known: Collection[str]) -> str:
    """The name as it is registered; what is not known stays as it was given, for the error to say."""
    plain = "_".join(given.strip().lower().replace("-", " ").split())
    return next((name for name in (given, plain, _METHODS.get(plain, "")) if name in known), given)
