"""Rust: clippy's compiler, which lies beside the ordinary one."""

from collections.abc import Iterator
from pathlib import Path

from twinsmith.adapters.sandbox.languages.language import Toolchain
from twinsmith.adapters.sandbox.reviews.tool import (
    SOURCE,
    Found,
    Texts,
    Tool,
    file_at,
    finding,
    json_lines,
    mapping,
    number,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.verdict import Finding

# A source may not allow itself what is wrong outright.
LINTS = (
    *("--cap-lints=warn", "-Aunused", "-Adeprecated", "-Anonstandard_style"),
    *("-Aclippy::all", "-Wclippy::suspicious", "--force-warn=clippy::correctness"),
)
UNDEFINED = frozenset(
    f"clippy::{name}"
    for name in (
        *("cast_slice_different_sizes", "eager_transmute", "mem_replace_with_uninit"),
        *("not_unsafe_ptr_arg_deref", "size_of_in_element_count", "transmuting_null"),
        *("uninit_assumed_init", "uninit_vec", "unsound_collection_transmute"),
        *("wrong_transmute", "zst_offset"),
    )
)
"""Lints about undefined behaviour, where a good run says nothing about the next."""


def find_clippy(rust: Toolchain) -> Found | None:
    """The tool clippy, in the folder of the compiler that programs are built with."""
    driver = Path(rust.commands["rustc"]).with_name("clippy-driver")
    if not driver.is_file():
        return None
    kind = ("--edition=2021", "--crate-type=lib", "--emit=metadata", "-o", "solution.rmeta")
    return Found(command=(str(driver), *kind, "--error-format=json", *LINTS, f"{SOURCE}.rs"))


def read_clippy(said: ProbeResult, texts: Texts) -> Iterator[Finding]:  # noqa: ARG001
    """The findings of clippy, one JSON object a line; those without a place are left out."""
    for row in json_lines(said.errors):
        spans = row["spans"]
        if not isinstance(spans, list) or not spans:
            continue
        code = str(mapping(row["code"])["code"]) if row["code"] else "error"
        place = mapping(spans[0])
        line, file = number(place["line_start"]), file_at(str(place["file_name"]))
        what = f"clippy {code.removeprefix('clippy::')}"
        yield finding(what, line, str(row["message"]), file=file, blocks=code in UNDEFINED)


CLIPPY = Tool(
    name="clippy",
    install="rustup component add clippy, or: apt-get install -y rust-clippy",
    find=find_clippy,
    read=read_clippy,
)
