"""A sandbox that runs nothing: it knows beforehand what every probe will see.

For tests and benchmarks of the flow; it isolates nothing because nothing runs in it.
"""

import ast
from collections.abc import Callable, Mapping

from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program


class EmptySandbox:
    """Runs nothing and says nothing, whatever it is given."""

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:  # noqa: ARG002
        """An execution without results."""
        return Execution(candidate=0, results=())


class CannedSandbox:
    """A sandbox with canned results: by source text, the results of probes by name; others pass.

    A call gives what the function gives that stands for its source text, if one does.
    """

    def __init__(
        self,
        results: Mapping[str, Mapping[str, ProbeResult]] | None = None,
        functions: Mapping[str, Callable[..., object]] | None = None,
    ) -> None:
        self._results = results or {}
        self._functions = functions or {}

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:  # noqa: ARG002
        """The canned results, in the order of the probes."""
        known = self._results.get(program.source, {})
        return Execution(
            candidate=0,
            results=tuple(
                known.get(probe.name) or self._seen(program.source, probe)
                for probe in probes.checks
            ),
        )

    def _seen(self, source: str, probe: Probe) -> ProbeResult:
        function = self._functions.get(source)
        if function is None or probe.call is None:
            return ProbeResult(name=probe.name, outcome="passed")
        try:
            value = repr(function(*map(ast.literal_eval, probe.call.args)))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            return ProbeResult(name=probe.name, outcome="raised", detail=repr(error))
        return ProbeResult(name=probe.name, outcome="passed", value=value)
