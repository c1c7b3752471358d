"""What can be asked about a model, and the answers: a file a family of questions.

predict         the outputs for texts and variants of texts          inside          attention, hidden states, layers
gradients       of the explained number, at the input embeddings     embeddings      rows of the input embedding
fill            what a masked language model puts into holes         replacements    words that would move the number
interventions   other values inside than its own                     generation      what a language model writes
parameters      gradients of the weights                             each, cases, train, once   answered by the engine
"""

from __future__ import annotations

from assay.questions.aims import Aims as Aims
from assay.questions.base import Aim as Aim
from assay.questions.base import Conversation as Conversation
from assay.questions.base import Inquiry as Inquiry
from assay.questions.base import Question as Question
from assay.questions.base import elsewhere as elsewhere
from assay.questions.base import now as now
from assay.questions.cases import Cases as Cases
from assay.questions.each import Each as Each
from assay.questions.each_token import EachToken as EachToken
from assay.questions.embeddings import Embeddings as Embeddings
from assay.questions.fill import Fill as Fill
from assay.questions.generation import Generate as Generate
from assay.questions.generation import Likelihood as Likelihood
from assay.questions.gradients import GradientVectors as GradientVectors
from assay.questions.gradients import InputGradient as InputGradient
from assay.questions.inside import Attention as Attention
from assay.questions.inside import Depth as Depth
from assay.questions.inside import Hidden as Hidden
from assay.questions.inside import Relevance as Relevance
from assay.questions.inside import ValueZeroing as ValueZeroing
from assay.questions.intervene import Activations as Activations
from assay.questions.intervene import Intervene as Intervene
from assay.questions.intervene import Site as Site
from assay.questions.intervene import UnitCounts as UnitCounts
from assay.questions.interventions import Adversary as Adversary
from assay.questions.interventions import InterveneAttention as InterveneAttention
from assay.questions.once import Once as Once
from assay.questions.parameters import GradientProducts as GradientProducts
from assay.questions.parameters import LastLayer as LastLayer
from assay.questions.parameters import LossTokens as LossTokens
from assay.questions.parameters import ParameterGradient as ParameterGradient
from assay.questions.predict import Predict as Predict
from assay.questions.predict import Settle as Settle
from assay.questions.randomness import Randomness as Randomness
from assay.questions.replacements import Replacements as Replacements
from assay.questions.replacements import VocabularyWords as VocabularyWords
from assay.questions.self_products import SelfProducts as SelfProducts
from assay.questions.train import Train as Train
