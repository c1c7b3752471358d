"""Finding a model: bundled by name, a local directory, a hub name, module:attribute, or an object.

Loading is safe: weights only from safetensors, code of a model repository is never run, and a bundled model is
checked by its digest. Only `module:attribute` runs code, the user's own. A hub name may pin what it gets today:
`owner/name@REVISION`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ModelNotLoaded, UnknownName
from assay.models import directories
from assay.models.attribute import as_module, attribute
from assay.models.auto_device import best_device
from assay.models.base import TextModel
from assay.models.black_box import BlackBox
from assay.models.hub import pinned
from assay.models.model_files import MODEL_FILES, what_it_is
from assay.models.scikit_learn import from_sklearn, require_classes
from assay.models.transformers.precision import lowered

if TYPE_CHECKING:  # it brings torch, which other models do without
    from assay.models.transformers.tasks.base import Task

_WRITER = "writer"  # and writer:ADAPTER: on a base that another package carries
_CARRIED = ("smollm2",)  # models that other packages carry; the zoo finds and checks them

# What the name of a model's class ends with, and what such a model does; the first that fits.
_PURPOSES = {
    "ViltForQuestionAnswering": "VisualQuestionAnswering",
    "ForVisualQuestionAnswering": "VisualQuestionAnswering",
    "ForSequenceClassification": "SequenceClassification",
    "ForTokenClassification": "TokenClassification",
    "ForQuestionAnswering": "QuestionAnswering",
    "ForMaskedLM": "MaskedLM",
    "ForCausalLM": "CausalLM",
    "LMHeadModel": "CausalLM",
    "ForConditionalGeneration": "Seq2SeqLM",
    "MTModel": "Seq2SeqLM",
}


def load(
    source: Any,
    *,
    labels: Sequence[str] | None = None,
    question: str | None = None,
    device: str | None = None,
    dtype: str | None = None,
) -> TextModel:
    """A model that can be explained.

    `labels` names the outputs of a function; with a `question` about a text it makes a causal language model a
    classifier, which answers with one of them. `device` moves a torch model (auto: to a GPU, where there is one);
    `dtype` is bf16 (or fp16, on a GPU) for faster forwards, which are then measured against float32.
    """
    model = _from_name(source) if isinstance(source, str | Path) else _from_object(source, labels)
    if question is not None:
        from assay.models.transformers.choosing import choosing  # it brings torch

        model = choosing(model, labels or (), question)
    if device is not None:
        model = _moved(model, device)
    return model if dtype is None else lowered(model, dtype)


def bundled() -> dict[str, Any]:
    """The cards of the bundled models by name; empty where the zoo is not installed."""
    try:
        zoo = import_module("assay_zoo")
        return {name: zoo.card(name) for name in zoo.names()}
    except ImportError:
        return {}
    except zoo.ZooError as error:
        raise ModelNotLoaded(str(error)) from error


def writers() -> dict[str, Any]:
    """The cards of the writer and of its bundled adapters by name; their base may have to be installed."""
    try:
        zoo = import_module("assay_zoo")
        return {name: zoo.writer_card(name) for name in zoo.writers()}
    except (ImportError, AttributeError):  # no zoo, or one from before there was a writer
        return {}


def _bundled_names() -> list[str]:
    """The names alone: a damaged card is no reason not to load another model."""
    try:
        return list(import_module("assay_zoo").names())
    except ImportError:
        return []


def _moved(model: TextModel, device: str) -> TextModel:
    """A torch model on another device; others run where they run."""
    if device == "auto" and (device := best_device()) == "cpu":
        return model  # where it was put when it was loaded
    try:
        return model.on_device(device)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA asserts
        if str(device).startswith("cuda") and best_device() == "cpu":
            raise ModelNotLoaded(
                f"torch sees no GPU here, so the model cannot run on {device!r}; say cpu or auto."
            ) from error
        if "device type at start of device string" in str(error):
            raise UnknownName.of("device", device, ("auto", "cpu", "cuda", "cuda:0", "mps")) from error
        raise ModelNotLoaded(f"the model cannot be moved to {device!r}: {str(error).splitlines()[0]}") from error


def _from_object(source: Any, labels: Sequence[str] | None) -> TextModel:
    if isinstance(source, TextModel):
        return source
    if isinstance(source, tuple | list) and len(source) == 2:
        return _wrap(*(source[::-1] if _is_tokenizer(source[0]) else source))
    if _is_tokenizer(source):
        raise ModelNotLoaded(f"{type(source).__name__} is a tokenizer; give it with its model: (model, tokenizer).")
    if hasattr(source, "model") and hasattr(source, "tokenizer"):
        sees = _purpose(type(source.model).__name__) == "VisualQuestionAnswering"
        return _wrap(source.model, source if sees else source.tokenizer)
    if hasattr(source, "predict_proba") or hasattr(source, "decision_function"):
        return from_sklearn(source)
    if callable(source) and not hasattr(source, "config"):
        return BlackBox(source, labels=labels)
    if hasattr(source, "config"):
        raise ModelNotLoaded(f"{type(source).__name__} needs its tokenizer: give (model, tokenizer).")
    require_classes(source)
    raise ModelNotLoaded(
        f"cannot use {type(source).__name__} as a model; give a name, a directory, (model, tokenizer), "
        "a pipeline, or a function from texts to probabilities."
    )


def _is_tokenizer(source: Any) -> bool:
    return hasattr(source, "convert_tokens_to_ids")


def _from_name(source: str | Path) -> TextModel:
    name = str(source)
    if name in (known := _bundled_names()) or (known and (name in _CARRIED or name.partition(":")[0] == _WRITER)):
        return _from_zoo(name)
    if not name or len(name) > 250:
        raise ModelNotLoaded(f"the name of the model is {'very long; is it a text?' if name else 'empty.'}")
    if Path(name).is_dir():
        return _from_pretrained(name, local=True)
    if Path(name).exists():
        raise ModelNotLoaded(what_it_is(name))
    if ":" in name and not name.startswith(("http:", "https:", "/", ".")):
        return load(attribute(name))
    if name.startswith(("/", ".", "~")):
        raise ModelNotLoaded(f"there is no directory {name}.")
    if Path(name).suffix.lower() in MODEL_FILES:
        raise ModelNotLoaded(f"there is no file {name}; also, {what_it_is(name)}")
    if name.startswith(("http:", "https:")):
        raise ModelNotLoaded(f"{name} is an address; a model of the hub is named owner/name.")
    return _from_pretrained(name, local=False)


def _from_zoo(name: str) -> TextModel:
    zoo = import_module("assay_zoo")
    try:
        if name in _CARRIED:
            return _wrap(*getattr(zoo, name)(), name=name)
        if name.partition(":")[0] == _WRITER:
            from assay.models.transformers.writing_fast import by_columns  # it brings torch

            model, tokenizer = zoo.load_writer(name)
            return _wrap(by_columns(model), tokenizer, name=name)
        return _wrap(*zoo.load(name), name=name, fields=zoo.card(name).fields)
    except zoo.ZooError as error:
        raise ModelNotLoaded(str(error)) from error


def _from_pretrained(name: str, *, local: bool) -> TextModel:
    import transformers as hf

    from assay.models.architecture import architecture

    if local:
        directories.require_safe(Path(name))
        _register(Path(name))
    source, revision = (name, None) if local else pinned(name)
    safe = {"trust_remote_code": False, "local_files_only": local, "revision": revision or "main"}
    try:
        config = hf.AutoConfig.from_pretrained(source, **safe)
        if not local:
            directories.require_no_kernel(hf.PreTrainedConfig.get_config_dict(source, **safe)[0], name)
        family = _family(config.architectures or [])
        model, report = getattr(hf, family).from_pretrained(
            source, config=config, use_safetensors=True, output_loading_info=True, **safe
        )
        tokenizer = hf.AutoTokenizer.from_pretrained(source, **safe)
        if family == "AutoModelForVisualQuestionAnswering" and architecture(config.model_type) is None:
            tokenizer = (tokenizer, hf.AutoImageProcessor.from_pretrained(source, **safe))
    except ModelNotLoaded:
        raise
    except Exception as error:
        raise ModelNotLoaded(_why(name, local, error)) from error
    if report["missing_keys"]:
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ModelNotLoaded(f"{name} has no weights for {missing}: its answers would be random.")
    return _wrap(model, tokenizer, name=name)


def _register(path: Path) -> None:
    """Make an architecture that transformers does not know known to it, where the directory holds such a model."""
    from assay.models.architecture import architecture

    if found := architecture(str(directories.settings(path).get("model_type", ""))):
        found.register()


def _family(architectures: Sequence[str]) -> str:
    """The Auto class for what was saved; without a word about it, a classifier."""
    purposes = (_purpose(name) for name in architectures)
    return f"AutoModelFor{next((one for one in purposes if one), 'SequenceClassification')}"


def _purpose(kind: str) -> str | None:
    """What a model of this class does, as the Auto classes of transformers call it."""
    return next((task for ending, task in _PURPOSES.items() if kind.endswith(ending)), None)


def _why(name: str, local: bool, error: Exception) -> str:
    reason = " ".join(str(error).split())[:200]
    if local:
        return f"{name} cannot be loaded: {reason}"
    if (said := as_module(name)) is not None:
        return said
    known = _bundled_names()
    hint = UnknownName.of("bundled model", name, known) if known else "install the bundled ones: pip install ./zoo"
    return f"{name} is no directory and the hub did not give it ({type(error).__name__}); {hint}"


def _from_text_to_text(model: Any) -> bool:
    """Models that generate from pictures or sounds bear the same names."""
    return bool(model.config.is_encoder_decoder) and "input_ids" in signature(model.forward).parameters


def _wrap(model: Any, tokenizer: Any, *, name: str | None = None, fields: Sequence[str] = ("text",)) -> TextModel:
    """A transformers model as the engine sees it: its network, its task, and the table of its handlers."""
    if tokenizer is None or not hasattr(model, "config"):
        raise ModelNotLoaded("a transformers model needs its tokenizer: give (model, tokenizer).")
    from assay.models.architecture import architecture
    from assay.models.transformers.adapter import HuggingFace
    from assay.models.transformers.handlers.table import handlers_of
    from assay.models.transformers.network import Network
    from assay.models.transformers.tasks.visual import Visual, tokenizer_and_processor

    found = architecture(getattr(model.config, "model_type", ""))
    task = found.task if found else _task_of(model)
    words, processor = tokenizer_and_processor(tokenizer) if issubclass(task, Visual) else (tokenizer, None)
    network = Network(model, words, name)
    made = task(network, fields, processor) if issubclass(task, Visual) else task(network, fields)
    return HuggingFace(network, made, found.table if found else handlers_of)


def _task_of(model: Any) -> type[Task]:
    """What a model of transformers does, by the name of its class."""
    from assay.models.transformers.tasks.causal_lm import CausalLM
    from assay.models.transformers.tasks.classifier import Classifier
    from assay.models.transformers.tasks.masked_lm import MaskedLM
    from assay.models.transformers.tasks.seq2seq import Seq2Seq
    from assay.models.transformers.tasks.span_reader import SpanReader
    from assay.models.transformers.tasks.token_tagger import TokenTagger
    from assay.models.transformers.tasks.visual import Visual

    tasks: dict[str, type[Task]] = {
        "SequenceClassification": Classifier,
        "TokenClassification": TokenTagger,
        "QuestionAnswering": SpanReader,
        "VisualQuestionAnswering": Visual,
        "MaskedLM": MaskedLM,
        "CausalLM": CausalLM,
        "Seq2SeqLM": Seq2Seq,
    }
    kind = type(model).__name__
    purpose = _purpose(kind)
    if purpose == "QuestionAnswering" and {"pixel_values", "visual_embeds"} & set(signature(model.forward).parameters):
        raise ModelNotLoaded(
            f"{kind} does not choose among known answers to a question about an image file; such a model that Assay "
            "can explain is ViltForQuestionAnswering."
        )
    if purpose is None or (purpose == "Seq2SeqLM" and not _from_text_to_text(model)):
        known = ", ".join(name.removeprefix("For") for name in _PURPOSES)
        raise ModelNotLoaded(f"{kind} is not a kind of model that Assay can explain; these are: {known}.")
    return tasks[purpose]
