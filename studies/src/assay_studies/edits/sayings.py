"""The survey's sentences that are judged, each with how it is read here, and our own questions."""

from __future__ import annotations

from assay_studies.judged import Sentence

_JUDGE = "The judge is a second model; our limit is half of the texts."
SENTENCES = (
    Sentence(
        key="adversarial",
        short="The label of an adversarial example stays as it was",
        quote="to ensure that an adverserial example method is functionally-grounded, one only needs to "
        "assert that the "
        "predicted label changes while the gold label remains the same",
        place="section 7",
        reading=f"All of them change the predicted label. {_JUDGE}",
    ),
    Sentence(
        key="constrained",
        short="HotFlip needs constraints to come near a paraphrase",
        quote="in terms of word-level models, it is necessary to constrain the possible changes, such that the "
        "adversarial sentence is a paraphrase",
        place="section 7.1",
        reading="With similar words only, the versions should be more alike to the texts, and keep their label more "
        "often, than with any words.",
        main="label kept, similar words - any",
    ),
    Sentence(
        key="paraphrases",
        short="What a paraphraser writes is closer to a paraphrase than what HotFlip does",
        quote="An alternative approach to produce adversarial examples that are ensured to be paraphrases is to sample "
        "from a paraphrasing model",
        place="section 7.2",
        reading="By a sentence encoder, on texts where both found a version. SEA finds few at S >= 0.8.",
        main="similarity, SEA - HotFlip",
    ),
    Sentence(
        key="expensive",
        short="SEA is expensive",
        quote="While SEA Ribeiro et al. [98] depends on an expensive paraphrase generation model.",
        place="section 7.3",
        reading="Rows that models read and tokens that they wrote, beside those of HotFlip.",
        digits=0,
    ),
    Sentence(
        key="critical",
        short="Adversarial examples keep the label, counterfactuals change it",
        quote="The critical difference is that adversarial examples should have the same gold label as the original "
        "example, while counterfactual examples should have a different gold label",
        place="section 9",
        reading="How much more often the judge keeps the label of what HotFlip made than of what MiCE made.",
        main="label kept, similar words - MiCE",
    ),
    Sentence(
        key="fluent",
        short="Counterfactuals are fluent",
        quote="Furthermore, these counterfactual examples should be a minimal-edit from the original "
        "example and fluent.",
        place="section 9",
        reading="Our limit: the pseudo-perplexity near the edit is between 0.8 and 1.25 times that of the text "
        "(within 0.223 in logarithms).",
    ),
    Sentence(
        key="gradient",
        short="Masking by the gradient makes edits smaller and more fluent than masking at random",
        quote="They find that using the gradient significantly improves both fluency and reduces the number "
        "of edits it "
        "takes to change a prediction.",
        place="section 9.2",
        reading="Ours lets words go back that need not have changed, which makes up for bad masks in part.",
        main="share of words changed, gradient - random",
    ),
    Sentence(
        key="opposite",
        short="MiCE gives texts of the opposite label",
        quote="a desirable is to provide a counterfactual example with the opposite gold label, an objective that is "
        "independent of the model. [...] These objectives can at times appear opposite, although MiCE provide a great "
        "example of how it can be done.",
        place="section 9.3",
        reading=_JUDGE,
    ),
    Sentence(
        key="filtering",
        short="Polyjuice, which only filters by the model, turns fewer texts than MiCE",
        quote="Whether Polyjuice is functionally-grounded is somewhat questionable, because the model is not a part of "
        "the generation process itself, it is merely used as a filtering step.",
        place="section 9.1",
        reading="Our reading: what does not ask the model while it writes turns it less often.",
    ),
    Sentence(
        key="rules_hold",
        short="Rules hold on texts that were not used",
        quote="generally functionally-groundedness can be measured by asserting if the rule holds true by "
        "evaluating it "
        "on the dataset and compare with the model response",
        place="section 15.3",
        reading="The flip rate on texts of neither half of the sample, less the one that was reported; our "
        "limit is 0.1.",
    ),
    Sentence(
        key="rules_equivalent",
        short="What a rule changes keeps its label",
        quote="If the proposed rule has a high success-rate (called filp-rate), in terms of providing a semantically "
        "equivalent adversarial sample, it is considered a rule.",
        place="section 15.1",
        reading=_JUDGE,
    ),
    Sentence(key="rules_beat_chance", short="Rules turn more texts than random words in the same places"),
    Sentence(key="beyond_chance", short="MiCE turns more texts than as many random words do"),
    Sentence(key="likelier", short="MiCE is more fluent than HotFlip"),
    Sentence(key="people", short="MiCE changes less than people do"),
    Sentence(key="judge", short="The judge sees that people changed the label"),
)
