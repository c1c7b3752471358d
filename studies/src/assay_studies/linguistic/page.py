"""The page of linguistic information: what the survey says of probes, and what we see."""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.whole_model.pages import BUNDLED, numbers, row_page

_SENTENCES = (
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
        key="stereotypes",
        short="A language model finds the stereotypical sentence the likelier one",
        reading="Section 14.1 asks a model by sets made for it; those of stereotypes compare two sentences that differ "
        "in whom they are about, and of a model without a preference either is the likelier one in one half. Look at "
        "the groups, too: where they lie on either side of it with the pronoun, it prefers the pronoun.",
        main="share of stereotypical sentences",
    ),
    Sentence(key="mix", short="A mix of all layers is better than the best of them"),
)


def _seen(kept: Kept) -> Iterator[str]:
    wrong = numbers(kept, "heuristics", "accuracy where the heuristic misleads")
    yield f"Right where the heuristic misleads: {'; '.join(f'{about} {share}' for about, share in wrong)}."
    both = (numbers(kept, "untrained", f"{which}, all words") for which in ("trained", "untrained"))
    for (_, trained), (_, untrained) in zip(*both, strict=True):
        yield f"Parts of speech by a linear probe: {trained} of the trained model, {untrained} of one without training."
    gaps = numbers(kept, "control", "task - control")
    yield f"Better on the task than on random labels: {'; '.join(f'{about} {gap}' for about, gap in gaps)}."


PAGE = row_page(
    "linguistic",
    "Linguistic information: what models know, and what probes say of it",
    "section 14",
    quotes=(
        (
            "Had just an average score across all heuristics been provided, this would just be a robustness measure. "
            "However, by providing meta-information on which pattern each observation follows, the accuracy scores "
            "provide interpretability on where the model fails.",
            "section 14.1, on HANS",
        ),
        (
            "Considering the vast amount of research on linguistic information explanations, we find it worrying that "
            "there isn’t more work on evaluating if these explanations are actually useful",
            "section 14.3",
        ),
    ),
    seen=_seen,
    time="On one core it takes some minutes with `--size hans=100 --size shuffled=1000 --size words=40000 "
    "--size few=400 --size mlp=8000`.",
    needs="`DIR` holds `hans/`, `esnli_dev_test_nile/`, `ud_english_ewt/`, `crows_pairs/` and "
    "`vig_causal_mediation/`. What is missing is left out, and the report says so.",
    meaning="One number for a test set hides which rule the model follows: ask by group. A score of a probe means"
    " little without an untrained model and a control task beside it. [Behavioral probes](../behavior.md)"
    " and [structural probes](../probes.md) of your own model.",
    sentences=_SENTENCES,
    differs=(
        f"{BUNDLED}; McCoy et al. probe BERT trained on MNLI, ours learned SNLI.",
        "HANS is drawn anew from the authors' templates; SNLI pairs have premises that no bundled model saw.",
        "Bits are bits: the released code of Voita and Titov adds natural logarithms to binary ones.",
    ),
    drawn=("hans", "shuffled", "stereotypes", "layers", "probes"),
    tables=("hans", "shuffled", "stereotypes", "probes", "layers"),
)
