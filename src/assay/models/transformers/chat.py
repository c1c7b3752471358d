"""A prompt as a chat model wants it: what the user says inside the model's own template, then how its reply begins."""

from __future__ import annotations

from assay.errors import Unanswerable
from assay.models.transformers.network import Network
from assay.questions.generation import Prompt


def chat_tokens(network: Network, prompt: Prompt) -> list[int]:
    """The tokens of a conversation of one message; the template brings its own special tokens."""
    tokenizer = network.encoder.tokenizer
    return list(tokenizer(chat_string(network, prompt), add_special_tokens=False)["input_ids"])


def chat_string(network: Network, prompt: Prompt) -> str:
    """The same before it is split into tokens."""
    tokenizer = network.encoder.tokenizer
    if not getattr(tokenizer, "chat_template", None):
        raise Unanswerable(
            f"{network.name} has no chat template, so nobody knows how to talk to it; "
            "ask it without chat, or set tokenizer.chat_template."
        )
    try:
        said = [{"role": "user", "content": prompt.text}]
        string = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    except Exception as error:  # templates are small programs, and raise what they like
        raise Unanswerable(f"the chat template of {network.name} fails on a message of a user: {error}") from error
    return f"{string}{prompt.begun}"
