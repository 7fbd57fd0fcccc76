"""Asserts as critics propose them."""

from collections.abc import Mapping
from dataclasses import replace

from twinsmith.core.probe import Probe, read_check


def proposals(asserts: Mapping[str, int]) -> dict[Probe, int]:
    """Each as the check it is, and how often; what is no assert is left out."""
    read = [(read_check(source, number=0), times) for source, times in asserts.items()]
    return {
        replace(probe, name=probe.source.removeprefix("assert ")): times
        for probe, times in read
        if probe is not None
    }
