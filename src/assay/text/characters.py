"""A text whose words are its single characters: for models that read characters."""

from __future__ import annotations

from assay.text.text import Field, Text


def in_characters(text: Text) -> Text:
    """The same strings; every visible character of a word of the fields in focus is a word of its own."""
    fields = (_in_characters(field) if field.name in text.focus else field for field in text.fields)
    return Text(tuple(fields), text.focus)


def _in_characters(field: Field) -> Field:
    places = (i for start, end in field.spans for i in range(start, end))
    spans = tuple((i, i + 1) for i in places if not field.string[i].isspace())
    return Field(field.name, field.string, spans, field.part)
