"""The purpose of a route, as far as its method, its path and the routes beside it tell."""

from typing import Literal

from twinsmith.core.planning.contract import Contract, Operation

Purpose = Literal[
    "health", "register", "login", "create", "read", "list", "update", "delete", "other"
]


def purpose_of(operation: Operation, contract: Contract) -> Purpose:
    """The purpose of an operation: what the kit calls it, else what its method and path tell."""
    if operation.part:
        return operation.part
    shapes = {each.shape for each in contract.operations}
    path = operation.shape[1]
    if path.endswith("/{}"):
        if ("POST", path.removesuffix("/{}")) not in shapes:
            return "other"
        by_method: dict[str, Purpose] = {"GET": "read", "PUT": "update", "DELETE": "delete"}
        return by_method.get(operation.method, "other")
    if operation.method == "POST" and ("GET", f"{path}/{{}}") in shapes:
        return "create"
    if operation.method == "GET" and ("POST", path) in shapes:
        return "list" if isinstance(operation.example(), list) else "other"
    return "other"


def first(wanted: Purpose, contract: Contract) -> Operation | None:
    """The first operation with a purpose; None where there is none."""
    found = (each for each in contract.operations if purpose_of(each, contract) == wanted)
    return next(found, None)
