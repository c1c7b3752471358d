"""The page of the study: the survey's sentences, and what they mean."""

from __future__ import annotations

from assay_studies.judged import Sentence
from assay_studies.page import Page

_SENTENCES = (
    Sentence(
        key="nearly_identical",
        short="Rationales that are told the answer are nearly identical to those that are not",
        quote="They find that rationalization explanations provide nearly identical explanations as reasoning "
        "explanations (those where the answer is not known by the explanation model).",
        place="section 10.1, of Rajani et al.",
        reading="Our limit for “nearly identical”: they share more than half of their words (F1). Theirs was trained "
        "for one way of asking at a time; ours learned both, three explanations of four with the answer.",
        main="overlap of words",
    ),
    Sentence(
        key="depends",
        short="The writer may not truly depend on the answer",
        quote="the GPT model may not truly depend on the answer, indeed their comparative experiments with reasoning "
        "explanations (where the answer is not given) show that the explanations are similar",
        place="section 10.1",
        reading="Our reading: told another answer, it writes something as likely by its own measure, within 0.1 nats a "
        "token. The second number is what the same sentence loses when the writer is told another answer: it does read "
        "the answer, and argues for any.",
        main="nats a token more",
    ),
    Sentence(
        key="identical_performance",
        short="Rationales that are told the answer let one guess it no better than those that are not",
        quote="The method is validated to be human-grounded, by tasking humans to use the explanation to predict the "
        "model behavior, again they find identical performance.",
        place="section 10.1, of Rajani et al.",
        reading="In the place of people a simulator guesses the model's answer from the words of the text and of the "
        "rationale. Our limit for “identical”: 3 % of the answers. The second number is the same beyond the text, with "
        "the rationales that give the answer away set apart (LAS).",
        main="answers guessed, told - untold",
    ),
    Sentence(
        key="closer",
        short="A rationale for the answer is closer to the human ones than one for another answer",
        reading="By the words shared with the most alike human explanation (F1), and by BLEU of all together. People "
        "were told the right answer; where the model is wrong, the other answer may be theirs.",
        main="likeness, answer - another",
    ),
    Sentence(
        key="about_the_text",
        short="A rationale is closer to the human ones than that of another text",
        main="likeness, own - another text's",
    ),
    Sentence(
        key="nile",
        short="Ours are closer to the human ones than NILE's",
        reading="NILE's writer is GPT-2 medium, one for each label, trained on all of e-SNLI's training part.",
        main="likeness, ours - NILE's",
    ),
    Sentence(
        key="simulatable",
        short="Rationales let a simulator guess the model's answer beyond the text, leakage aside",
        reading="Beside rationales of other texts, which help nobody.",
        main="LAS, own - another text's",
    ),
    Sentence(
        key="adapter",
        short="Human explanations are likelier to the writer with its adapter than to its base",
        digits=2,
    ),
)
PAGE = Page(
    title="Reasons in words",
    paper="Madsen, Reddy and Chandar (2022), *Post-hoc Interpretability for Neural NLP: A Survey*, "
    "[arXiv:2108.04840](https://arxiv.org/abs/2108.04840), section 10, on CAGE: Rajani et al. (2019), "
    "[arXiv:1906.02361](https://arxiv.org/abs/1906.02361).",
    run=(
        "assay study rationales --data DIR --out rationales --device cuda",
        "assay study rationales --data DIR --quick",
        "assay study rationales --page rationales     # this page",
    ),
    time="With the sizes below it took three minutes on a GPU; its full size has not been run. "
    "`--size esnli=120 --size cose=60 --size read=120` is a small run on one core, and `--quick` a smaller one.",
    needs="`DIR` holds `esnli_dev_test_nile/` and `cose/v1.0/`, and the writer's base is installed "
    "([more](../writer.md)).",
    meaning="A writer that is told your model's answer will argue for it, and would have argued for another one as "
    "readily. Read its sentence as what a person might say for that answer, never as what went on in the model; test "
    "it with `answer_sensitivity` and `counterfactual_faithfulness` before you show it to anybody.",
    sentences=_SENTENCES,
    differs=(
        "The writer is SmolLM2-135M-Instruct with an adapter that learned from explanations of SNLI dev, those of "
        "people and, behind another prompt, those that NILE wrote, in the place of GPT trained on CoS-E; it never saw "
        "CommonsenseQA. The pairs are of premises that no bundled model saw.",
        "No bundled model answers CommonsenseQA: there the writer is told the right answer, as people were.",
        "BLEU is of words in small letters without punctuation, and low for all that people write freely: read it "
        "beside what one person scores by the other two, with two references in the place of three.",
        "Human explanations of e-SNLI are read as people wrote them, all of a pair together. The adapter learned them "
        "from e-SNLI's own preprocessed files, in small letters and with sentences joined by semicolons, and its card "
        "reads the first one of each pair so: the table of perplexity has the same explanations both ways. Of the "
        "29,472 of SNLI test 96 % are then what the files have, letter by letter; as people wrote them 5 % are.",
        "The commit of the run is that of its code; the adapter was made just before it, and is bundled since then "
        "(perplexity 3.89 on its card).",
        "People were not asked; in their place a simulator guesses the model's answer from words.",
    ),
    variance="The writer is one adapter, the mean of two runs: the intervals are over texts, and training variance is "
    "not in them.",
    tables=("perplexity", "bleu", "likeness", "overlap", "belief"),
)
