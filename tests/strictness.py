"""Strict runs: with CI=true or STRICT=1 a test that is skipped for want of a part fails.

A part is whatever can be installed or fetched. What only another machine or another user can show
is no missing part: `elsewhere` and the marker of the same name say so, and are skips everywhere.
"""

import os
from collections.abc import Generator, Mapping
from typing import NoReturn

import pytest

MARKER = "elsewhere(condition, *, reason): skip what this machine or this user cannot show"


class Elsewhere(pytest.skip.Exception):  # type: ignore[misc,name-defined]
    """A skip that no installation would mend."""

    # The summary tells it as any other skip.
    __module__, __qualname__ = "builtins", "Skipped"


def elsewhere(reason: str) -> NoReturn:
    """Skip a test that only another machine or another user can show, saying which."""
    __tracebackhide__ = True
    raise Elsewhere(reason)


def strict(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a missing part is a failure; as scripts/bootstrap reads it."""
    said = environment.get("STRICT") or environment.get("CI", "")
    return said not in {"", "0", "false"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("elsewhere"):
        if all(mark.args):
            elsewhere(mark.kwargs["reason"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if strict() and call.excinfo is not None and _missing(call.excinfo.value):
        report.outcome = "failed"
        report.longrepr = call.excinfo.getrepr(style="value")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A whole module that is skipped is never one for elsewhere."""
    report = yield
    if strict() and report.skipped:
        report.outcome = "failed"
    return report


def _missing(problem: BaseException) -> bool:
    return isinstance(problem, pytest.skip.Exception) and not isinstance(problem, Elsewhere)
