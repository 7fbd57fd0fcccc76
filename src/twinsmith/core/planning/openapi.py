"""A contract as an OpenAPI 3.1 document."""

import json

from twinsmith.core.events import Json
from twinsmith.core.planning.contract import Contract, Field, Kind, Operation

_TYPES: dict[Kind, str] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "object": "object",
}
_MEDIA = {"json": "application/json", "text": "text/plain", "html": "text/html"}
_SENT = {"json": "application/json", "form": "application/x-www-form-urlencoded"}


def openapi_of(contract: Contract) -> dict[str, Json]:
    """The OpenAPI document of a contract: all that the service promises, and nothing else."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in contract.operations:
        told = _operation(operation, contract)
        paths.setdefault(operation.path, {})[operation.method.lower()] = told
    document: dict[str, Json] = {
        "openapi": "3.1.0",
        "info": {"title": contract.title, "version": "1.0.0"},
        "paths": {path: dict(methods) for path, methods in paths.items()},
    }
    if contract.accounts:
        scheme: Json = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
        document["components"] = {"securitySchemes": {"token": scheme}}
    return document


def _operation(operation: Operation, contract: Contract) -> dict[str, Json]:
    told: dict[str, Json] = {"operationId": operation.function}
    if operation.quote:
        told["summary"] = operation.quote
    parameters: list[Json] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": _TYPES[contract.kind_of(name)]},
        }
        for name in operation.parameters
    ]
    if operation.accepts == "query":
        parameters += [
            {"name": f.name, "in": "query", "required": f.required, "schema": _schema(f)}
            for f in operation.takes
        ]
    elif operation.takes:
        told["requestBody"] = {"required": True, "content": _content(operation)}
    if parameters:
        told["parameters"] = parameters
    if operation.login:
        told["security"] = [{"token": []}]
    told["responses"] = _responses(operation)
    return told


def _content(operation: Operation) -> dict[str, Json]:
    if operation.accepts == "text":
        return {"text/plain": {"schema": {"type": "string"}}}
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {field.name: _schema(field) for field in operation.takes},
    }
    required: list[Json] = [field.name for field in operation.takes if field.required]
    if required:
        schema["required"] = required
    return {_SENT[operation.accepts]: {"schema": schema}}


def _schema(field: Field) -> dict[str, Json]:
    if not field.example:
        return {"type": _TYPES[field.kind]}
    example = json.loads(field.example)
    found = schema_of(example)
    # A whole number may be the example of any number.
    return {**found, "type": _TYPES[field.kind], "examples": [example]}


def schema_of(example: Json) -> dict[str, Json]:
    """The JSON schema of a value, as far as one example tells it."""
    match example:
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case list():
            return {"type": "array", **({"items": schema_of(example[0])} if example else {})}
        case dict():
            return {"type": "object", "properties": {n: schema_of(v) for n, v in example.items()}}
    return {}


def _responses(operation: Operation) -> dict[str, Json]:
    good: dict[str, Json] = {"description": "Done"}
    if operation.gives and operation.answers in _MEDIA:
        example = operation.example()
        media: Json = {"schema": schema_of(example), "example": example}
        good["content"] = {_MEDIA[operation.answers]: media}
    elif operation.answers in ("text", "html"):
        good["content"] = {_MEDIA[operation.answers]: {"schema": {"type": "string"}}}
    told: dict[str, Json] = {str(operation.status): good}
    for refusal in operation.refuses:
        told[str(refusal.status)] = {"description": refusal.when}
    if operation.takes:
        told.setdefault("400", {"description": "a value is missing or of the wrong kind"})
    if operation.login:
        told.setdefault("401", {"description": "no token, or a wrong one"})
    return told
