"""A sandbox for C and C++ whose programs are built so that undefined behaviour ends them.

It costs a second build, half as long again as the first, three times as long for a function in
C++; so it is for candidates that have passed their checks already.
"""

import asyncio
from dataclasses import replace

from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.language import BadProgram, Recipe
from twinsmith.adapters.sandbox.runner import IsolatedSandbox, found
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program

SANITIZED = ("c", "cpp")
FLAGS = (
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"),
    # The library's own checks: they see an index behind the last item, not only behind the memory.
    "-D_GLIBCXX_ASSERTIONS",
)
# Looking for leaks needs ptrace, which no program here may use.
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16"}


class SanitizedSandbox:
    """Runs probes in another sandbox, built with sanitizers; other languages are not run at all."""

    def __init__(self, sandbox: IsolatedSandbox) -> None:
        self._sandbox = sandbox

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe; a program that does something undefined is killed and says so."""
        if program.language not in SANITIZED or not probes.checks:
            return Execution(candidate=0, results=())
        language = LANGUAGES[program.language]
        toolchain = await asyncio.to_thread(found, language)
        try:
            recipe = sanitized(language.recipe(program, toolchain))
        except BadProgram as error:
            return Execution(candidate=0, results=(), problem=f"does not compile: {error}")
        return await self._sandbox.follow(recipe, program, toolchain, probes, limits)


def sanitized(recipe: Recipe) -> Recipe:
    """A recipe with sanitizers switched on in its build."""
    build = tuple((compiler, *FLAGS, *rest) for compiler, *rest in recipe.build)
    return replace(recipe, build=build, environment={**recipe.environment, **ENVIRONMENT})
