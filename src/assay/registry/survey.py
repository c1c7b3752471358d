"""Table 1 of the survey: rows are kinds of explanation, columns are what a method may know of the model.

Madsen, Reddy and Chandar (2022), Post-hoc Interpretability for Neural NLP: A Survey, arXiv:2108.04840.
Marks: C checkpoints of the training, D a further dataset, H second derivatives, M a further model.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Row(StrEnum):
    """What form an explanation has, from the concrete to the abstract."""

    INPUT_FEATURES = "input features"
    ADVERSARIAL = "adversarial"
    INFLUENTIAL = "influential"
    COUNTERFACTUALS = "counterfactuals"
    NATURAL_LANGUAGE = "natural language"
    CONCEPTS = "concepts"
    VOCABULARY = "vocabulary"
    ENSEMBLE = "ensemble"
    LINGUISTIC = "linguistic"
    RULES = "rules"


class Uses(StrEnum):
    """What a method must know, from little to much."""

    BLACK_BOX = "black-box"
    DATASET = "dataset"
    GRADIENT = "gradient"
    EMBEDDINGS = "embeddings"
    WHITE_BOX = "white-box"
    MODEL_SPECIFIC = "model specific"


@dataclass(frozen=True)
class Cell:
    """One entry of the table, whether built here or not yet."""

    name: str
    title: str
    row: Row
    uses: Uses
    section: str = ""
    marks: str = ""


TABLE: tuple[Cell, ...] = (
    Cell("kernel_shap", "SHAP", Row.INPUT_FEATURES, Uses.BLACK_BOX, "6.4"),
    Cell("lime", "LIME", Row.INPUT_FEATURES, Uses.DATASET, "6.3"),
    Cell("anchors", "Anchors", Row.INPUT_FEATURES, Uses.DATASET, "6.5"),
    Cell("gradient", "Gradient", Row.INPUT_FEATURES, Uses.GRADIENT, "6.1"),
    Cell("integrated_gradients", "IG", Row.INPUT_FEATURES, Uses.GRADIENT, "6.2"),
    Cell("attention", "Attention", Row.INPUT_FEATURES, Uses.MODEL_SPECIFIC),
    Cell("sea", "SEA", Row.ADVERSARIAL, Uses.BLACK_BOX, "7.2", "M"),
    Cell("hotflip", "HotFlip", Row.ADVERSARIAL, Uses.GRADIENT, "7.1"),
    Cell("influence_functions", "Influence functions", Row.INFLUENTIAL, Uses.GRADIENT, "8.1", "H"),
    Cell("tracin", "TracIn", Row.INFLUENTIAL, Uses.GRADIENT, "8.3", "C"),
    Cell("representer_points", "Representer points", Row.INFLUENTIAL, Uses.WHITE_BOX, "8.2"),
    Cell("prototype_networks", "Prototype networks", Row.INFLUENTIAL, Uses.MODEL_SPECIFIC),
    Cell("polyjuice", "Polyjuice", Row.COUNTERFACTUALS, Uses.BLACK_BOX, "9.1", "MD"),
    Cell("mice", "MiCE", Row.COUNTERFACTUALS, Uses.GRADIENT, "9.2", "M"),
    Cell("cage", "CAGE", Row.NATURAL_LANGUAGE, Uses.BLACK_BOX, "10.1", "MD"),
    Cell("gef", "GEF, NILE", Row.NATURAL_LANGUAGE, Uses.MODEL_SPECIFIC),
    Cell("natural_indirect_effect", "NIE", Row.CONCEPTS, Uses.WHITE_BOX, "11.1", "D"),
    Cell("projection", "Project", Row.VOCABULARY, Uses.EMBEDDINGS, "12.1"),
    Cell("rotation", "Rotate", Row.VOCABULARY, Uses.EMBEDDINGS, "12.2"),
    Cell("sp_lime", "SP-LIME", Row.ENSEMBLE, Uses.DATASET, "13.1"),
    Cell("behavioral_probe", "Behavioral", Row.LINGUISTIC, Uses.BLACK_BOX, "14.1", "D"),
    Cell("structural_probe", "Structural", Row.LINGUISTIC, Uses.EMBEDDINGS, "14.2", "D"),
    Cell("structural_probe", "Structural", Row.LINGUISTIC, Uses.WHITE_BOX, "14.2", "D"),
    Cell("auxiliary_task", "Auxiliary task", Row.LINGUISTIC, Uses.MODEL_SPECIFIC),
    Cell("sear", "SEAR", Row.RULES, Uses.BLACK_BOX, "15.1", "M"),
    Cell("compositional_neurons", "Compositional", Row.RULES, Uses.WHITE_BOX, "15.2"),
)
