"""Tables and answers that a plan does not spell out, derived from its examples."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from twinsmith.core.planning.completing import NOT_FOUND, known_part
from twinsmith.core.planning.contract import Field, Kind, Operation, Refusal, Table

NO_CONTENT = 204
RECORDS = "records"


def unnamed(operations: Iterable[Operation], tables: Sequence[Table]) -> Iterable[Table]:
    """Tables for rows that a plan creates and shows with an id, but that no table keeps."""
    known = {table.name for table in tables}
    for each in operations:
        row = each.example()
        place = each.path.rpartition("/")[2]
        # What does not end so is something that is done to a row.
        several = place.isidentifier() and place.endswith("s")
        if each.method != "POST" or not several or place in known or known_part(each).part:
            continue
        if isinstance(row, dict) and "id" in row:
            known.add(place)
            columns = tuple(Field(name=name, kind=kind_of(value)) for name, value in row.items())
            yield Table(name=place, columns=columns)


def records(operations: Sequence[Operation]) -> Iterable[Table]:
    """A table for a plan that has none, though its routes both write and read something."""
    own = [each for each in operations if not known_part(each).part]
    writing = [each for each in own if each.method in ("POST", "PUT", "PATCH")]
    if not any(each.method == "GET" for each in own) or not writing:
        return
    columns = {"id": Field(name="id", kind="integer")}
    for each in writing:
        row = each.example()
        shown = row.items() if isinstance(row, dict) else ()
        for name in each.parameters:
            columns.setdefault(name, Field(name=name))
        for field in each.takes:
            columns.setdefault(field.name, Field(name=field.name, kind=field.kind))
        for name, value in shown:
            columns.setdefault(name, Field(name=name, kind=kind_of(value)))
    if len(columns) > 1:
        yield Table(name=RECORDS, columns=tuple(columns.values()))


def widened(table: Table, operations: Iterable[Operation]) -> Table:
    """A table with the columns that its rows show where they are created or listed."""
    columns = {each.name: each for each in table.columns}
    for each in operations:
        if each.path == f"/{table.name}" and each.method == "POST":
            for field in each.takes:
                columns.setdefault(field.name, Field(name=field.name, kind=field.kind))
        shown = each.example()
        row = shown[0] if isinstance(shown, list) and shown else shown
        if each.path == f"/{table.name}" and isinstance(row, dict) and table.key.name in row:
            for name, value in row.items():
                columns.setdefault(name, Field(name=name, kind=kind_of(value)))
    return replace(table, columns=tuple(columns.values()))


def found_or_not(operation: Operation, tables: Sequence[Table]) -> Operation:
    """A route about one row with a refusal for a missing row; PUT may create one."""
    known = any(each.status == NOT_FOUND for each in operation.refuses)
    if known or not tables or not operation.parameters or operation.method == "PUT":
        return operation
    missing = Refusal(status=NOT_FOUND, when="there is none")
    return replace(operation, refuses=(missing, *operation.refuses))


def told_by(operation: Operation, others: Sequence[Operation]) -> Operation:
    """A route without an example answer, given that of a route beside it."""
    if operation.answers != "nothing" or operation.status == NO_CONTENT:
        return operation
    if operation.method == "DELETE":
        return operation
    place = operation.path.split("/")[1]
    rows = (each.gives for each in others if each.path.split("/")[1] == place)
    row = next((gives for gives in rows if gives.startswith("{")), "")
    several = operation.method == "GET" and operation.path == f"/{place}"
    gives = f"[{row}]" if several and row else row
    return replace(operation, gives=gives, answers="json") if gives else operation


def kind_of(value: object) -> Kind:
    """The kind of a JSON value."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "list"
        case dict():
            return "object"
    return "string"
