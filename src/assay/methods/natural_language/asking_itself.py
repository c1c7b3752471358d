"""How a model that chooses among labels is asked about its own answer: in a new conversation, by its own template.

Every form of question is one sentence or two, and the text; the wordings are those of Madsen, Chandar and Reddy (2024),
arXiv:2401.07927, with "text" for "paragraph", and with what the question asks for where they say "the sentiment". A
wording of one's own may hold {subject}, {question}, {label}, {other} and {text}.
"""

from __future__ import annotations

from collections.abc import Mapping

import regex

from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.generation import Generate, Generated, Prompt

_REST = " Do not explain the answer.\n\nText:\n{text}"
WORDINGS: Mapping[str, str] = {
    "importance": (
        "List the most important words for determining {subject} of the following text, such that without these words "
        f"{{subject}} can not be determined.{_REST}"
    ),
    "redaction": (
        "Redact the most important words for determining {subject} of the following text, by replacing important words "
        f"with [REDACTED], such that without these words {{subject}} can not be determined.{_REST}"
    ),
    "counterfactual": (
        f'Edit the following text such that {{subject}} is "{{other}}". Make as few edits as possible.{_REST}'
    ),
    "rationale": ('Explain in one sentence why {subject} of the following text is "{label}".\n\nText:\n{text}'),
}
_SUBJECT = regex.compile(r"(?i)^what is (.{1,60}?)(?: of (?:the|this)(?: following)? \w+)?\?$")


def subject_of(question: str) -> str:
    """What a question asks for: "the sentiment" of "What is the sentiment of the following text?"."""
    found = _SUBJECT.match(question)
    return found[1] if found else f'the answer to the question "{question}"'


def wording(form: str, own: str) -> str:
    """What is asked; an error where one's own wording cannot be filled in."""
    try:
        (own or WORDINGS[form]).format(subject="", question="", label="", other="", text="")
    except (KeyError, IndexError, ValueError) as error:
        raise BadInput(
            "a wording may hold {subject}, {question}, {label}, {other} and {text}, and no other braces: "
            f"{own!r:.80}."
        ) from error
    return own or WORDINGS[form]


def asked(case: Case, words: str, *, other: int | None = None) -> Conversation[Prompt]:
    """The question about its own answer, as it is put to the model; an error where it gave none."""
    facts: KnownFacts = yield ModelFacts()
    if not facts.question:
        raise Unanswerable(
            f"{facts.name} was not asked a question that it answers with a label, so it has nothing to say about its "
            "answer; load it so: assay.load(name, labels=['negative', 'positive'], question='...'), or give "
            "--question and --labels in the shell."
        )
    label, wanted = facts.labels[case.target], "" if other is None else facts.labels[other]
    about = {"subject": subject_of(facts.question), "question": facts.question, "label": label, "other": wanted}
    string = words.format(text=case.text.strings[0], **about)
    return Prompt(string, chat=facts.chats) if facts.chats else Prompt(f"{string}\n\nAnswer:")


def reply(case: Case, words: str, *, max_tokens: int, other: int | None = None) -> Conversation[Generated]:
    """What the model says when it is asked about its own answer to this text."""
    prompt = yield from asked(case, words, other=other)
    written: list[Generated] = yield Generate(prompt, max_tokens=max_tokens)
    return written[0]
