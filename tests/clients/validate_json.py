#!/usr/bin/python3
"""Judges JSON bodies by JSON Schemas: validate_json.py FOLDER, each line of the input being SCHEMA, a tab, BODY. Prints a line
for each: empty, or what is wrong."""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend


class Body(dict):
    """A whole body, which knows how many bytes it had."""


def max_utf16(_validator, most, instance, _schema):
    if isinstance(instance, str) and len(instance.encode("utf-16-le")) // 2 > most:
        yield ValidationError(f"more than {most} UTF-16 units")


def max_bytes(_validator, most, instance, _schema):
    size = len(instance.encode()) if isinstance(instance, str) else instance.size
    if size > most:
        yield ValidationError(f"{size} bytes, more than {most}")


def no_doubles(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a name stands twice")
    return dict(pairs)


Judge = extend(Draft202012Validator, {"maxUtf16": max_utf16, "maxBytes": max_bytes})


def judged(folder, name, body):
    schema = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    try:
        read = Body(json.loads(body.decode("utf-8"), object_pairs_hook=no_doubles))
    except ValueError as error:
        return str(error)
    read.size = len(body)
    return "; ".join(f"{error.json_path}: {error.message[:200]}" for error in Judge(schema).iter_errors(read))


for line in sys.stdin.buffer.read().splitlines():
    schema_name, _, sent = line.partition(b"\t")
    print(judged(pathlib.Path(sys.argv[1]), schema_name.decode(), sent).replace("\n", " "))
