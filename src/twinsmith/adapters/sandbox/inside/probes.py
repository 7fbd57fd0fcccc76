"""Running one probe: the program is started, asked or run, and its answer is judged."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix as os
import time

from . import wire
from .checker import Functions, Ran, check, loose, shown, snake, text_of
from .running import Running, used_up
from .starter import REPLIES, REQUESTS
from .transcript import LONGEST, Transcript
from .watch import TIMED_OUT, TOO_LARGE, USED_UP, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from typing import Any

    from .usage import Usage

LONGEST_DETAIL = 4000
LONGEST_BUILD_OUTPUT = 1 << 20
LONGEST_FIRST = 1 << 16
LONGEST_READING = 1.0
LAST_MOMENT = 0.2


class Probing:
    """Runs probes in a room: it knows the room, the job, and the starter of programs."""

    def __init__(
        self,
        room: dict[str, Any],
        job: dict[str, Any],
        starter: _socket.socket,
        artefact: int,
        usage: Usage,
    ) -> None:
        self.room = room
        self.job = job
        self.usage = usage
        self.limits: dict[str, Any] = room["limits"]
        self._starter = starter
        self._artefact = artefact
        self._python = not room["run"]
        self._used: dict[str, Any] = {"cpu": 0.0, "peak_kb": 0}

    def probe(self, probe: dict[str, Any]) -> dict[str, Any]:
        """The outcome of one probe, with details and measurements."""
        try:
            if "call" in probe:
                row = self._call(probe)
            elif "command" in probe:
                row = self._command(probe)
            elif self.room["kind"] == "cli":
                row = self._check_command(probe)
            else:
                row = self._check_functions(probe)
        except wire.BadFrame as error:
            row = {"outcome": "killed", "detail": f"the program stopped: {error}"}
        row["detail"] = row["detail"][:LONGEST_DETAIL]
        return row

    def build(self, argv: list[str]) -> dict[str, Any]:
        """Run one command of the build; gives its outcome."""
        limits = {
            **self.limits,
            **self.limits["build"],
            "output_bytes": LONGEST_BUILD_OUTPUT,
            "memory_bytes": self.room["build_bytes"],
            "unshared": "",
        }
        running = self._start(argv, limits, mode="exec")
        watch = running.watch(limits, self.usage)
        running.feed(watch, "")
        why = watch.until(lambda: running.has_ended(watch))
        row = self._ended(running, watch, why, limits)
        said = (row["errors"] or row["output"]).strip()[:LONGEST_DETAIL]
        if "outcome" in row:
            row["detail"] = f"does not compile: {row['outcome']}, {row['detail']}; {said[:400]}"
        elif row["code"] == 0:
            row |= {"outcome": "passed", "detail": ""}
        else:
            _, fate = running.fate(limits)
            detail = said if (row["code"] or -1) > 0 and said else f"the compiler {fate} {said}"
            row |= {"outcome": "failed", "detail": f"does not compile: {detail}"}
        return row

    def run(self, *args: str, stdin: str = "") -> dict[str, Any]:
        """The result of one run of a command-line program."""
        running = self.start(tuple(str(arg) for arg in args))
        watch = running.watch(self.limits, self.usage)
        running.feed(watch, stdin)
        why = watch.until(lambda: running.has_ended(watch))
        row = self._ended(running, watch, why, self.limits)
        self._used["cpu"] += row["cpu"]
        self._used["peak_kb"] = max(self._used["peak_kb"], row["peak_kb"])
        return row

    def start(self, args: tuple[str, ...] = (), environment: Any = ()) -> Running:
        """Start the program as a command."""
        mode = "main" if self._python else "exec"
        argv = ["solution.py"] if self._python else list(self.room["run"])
        return self._start([*argv, *args], self.limits, mode=mode, environment=environment)

    def check(
        self,
        probe: dict[str, Any],
        names: dict[str, Any],
        transcript: Transcript,
        beside: Watch | None = None,
    ) -> dict[str, Any]:
        """The outcome of a check that starts programs or asks a service by itself."""
        seconds, most = self.limits["probe_seconds"], self.limits["output_bytes"]
        return self._forked(
            lambda: check(probe["check"], self.job["setup"], lambda: names, transcript),
            transcript,
            beside or Watch(seconds, most),
        )

    def _check_command(self, probe: dict[str, Any]) -> dict[str, Any]:
        transcript = Transcript()

        def run(*args: object, **kwargs: Any) -> Ran:
            words = [str(arg) for arg in args]
            row = self.run(*words, **kwargs)
            transcript.add(words, None if "outcome" in row else row["code"], row["output"])
            return Ran(row)

        return self.check(probe, {"run": run}, transcript)

    def _command(self, probe: dict[str, Any]) -> dict[str, Any]:
        wanted = probe["command"]
        row = self.run(*wanted["args"], stdin=wanted["stdin"])
        if "outcome" in row:
            return row
        wrong = []
        if wanted["exit_code"] is not None and row["code"] != wanted["exit_code"]:
            wrong.append(f"exit code {row['code']}, not {wanted['exit_code']}")
        if wanted["stdout"] is not None and row["output"] != wanted["stdout"]:
            wrong.append(f"printed {row['output'][:500]!r}, not {wanted['stdout'][:500]!r}")
        if row["code"] is None or (row["code"] < 0 and wanted["exit_code"] != row["code"]):
            return row | self._gone(row)
        said = row["errors"].strip().rpartition("\n")[2][:300]
        detail = "; ".join(wrong) + (f"; it said: {said}" if wrong and said else "")
        return row | {"outcome": "failed" if wrong else "passed", "detail": detail}

    def _call(self, probe: dict[str, Any]) -> dict[str, Any]:
        wanted = probe["call"]
        args = [wire.decode(arg) for arg in wanted["args"]]
        encoded = [wire.encode(arg) if self._python else wire.plain(arg) for arg in args]
        request = {"call": wanted["function"], "args": encoded}
        running = self.start_driver(request)
        watch = running.watch(self.limits, self.usage)
        watch.read(running.replies)
        answers: list[dict[str, Any]] = []
        # A driver greets first; the function may go by another name in its language.
        asked = running.requests < 0

        def answered() -> bool:
            nonlocal asked
            answers.extend(wire.frames(watch.came[running.replies]))
            if answers and not asked and "raised" not in answers[0]:
                asked = True
                request["call"] = self._name(wanted["function"], answers.pop(0))
                watch.write(running.requests, wire.frame(request))
            return bool(answers) or running.replies in watch.ended or running.has_ended(watch)

        try:
            why = watch.until(answered)
        except wire.BadFrame as error:
            row = self._ended(running, watch, "", self.limits)
            return row | {"outcome": "killed", "detail": f"the program stopped: {error}"}
        if not why and (not answers or running.requests < 0):
            self._await_end(running, watch)
        row = self._ended(running, watch, why, self.limits)
        if "outcome" in row:
            return row
        if not answers:
            return row | self._gone(row)
        return row | self.judged(probe, answers[0])

    def _await_end(self, running: Running, watch: Watch) -> None:
        """Wait a moment for a program to end after its pipe has ended."""
        watch.deadline = time.monotonic() + LAST_MOMENT
        watch.until(lambda: running.has_ended(watch))

    def _gone(self, row: dict[str, Any]) -> dict[str, Any]:
        """The outcome of a program that ended, or stopped talking, when it should have answered."""
        outcome, fate = row.get("fate") or ("killed", "ended before it answered")
        return {"outcome": outcome, "detail": f"the program {fate}"}

    def judged(self, probe: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The outcome of a call by the program's answer, which may be anything."""
        try:
            args = [wire.decode(arg) for arg in probe["call"]["args"]]
            return self._judged(probe, shown(probe["call"]["function"], args), answer)
        except Exception as error:
            # Whatever it is: an answer is data, and this one makes no sense.
            why = error if isinstance(error, wire.BadFrame) else "its answer cannot be read"
            return {"outcome": "killed", "detail": f"the program stopped: {why}"}

    def _judged(self, probe: dict[str, Any], call: str, answer: dict[str, Any]) -> dict[str, Any]:
        if "raised" in answer:
            text = text_of(answer)
            outcome = "out of memory" if answer["raised"] == "MemoryError" else "raised"
            return {"outcome": outcome, "detail": f"{text}; {call} raised {text}"}
        until = time.monotonic() + LONGEST_READING
        value = wire.decode(answer["value"], until) if self._python else loose(answer["value"])
        seen = repr(value)[: self.limits["output_bytes"]]
        result = {"outcome": "passed", "detail": "", "value": seen}
        if "expected" in probe["call"]:
            expected = wire.decode(probe["call"]["expected"])
            right = value == expected if self._python else wire.same(value, expected)
            if not right:
                detail = f"{probe['check'] or call}: {call} returned {value!r}"
                return result | {"outcome": "failed", "detail": detail}
        return result

    def _name(self, wanted: str, hello: dict[str, Any]) -> str:
        """The name of a function as the program spells it: has_pair may be HasPair or hasPair."""
        functions = hello.get("functions")
        if self._python or not isinstance(functions, list) or wanted in functions:
            return wanted
        return next((str(f) for f in functions if snake(str(f)) == snake(wanted)), wanted)

    def _check_functions(self, probe: dict[str, Any]) -> dict[str, Any]:
        running = self.start_driver()
        transcript = Transcript()

        def names() -> dict[str, Any]:
            return Functions(
                running.requests,
                running.replies,
                transcript,
                python=self._python,
                objects=self._python and self.room["kind"] == "library",
            ).names(self.room["entry"])

        def judged() -> list[str]:
            return check(probe["check"], self.job["setup"], names, transcript)

        watch = running.watch(self.limits, self.usage)
        return self._forked(judged, transcript, watch, running)

    def _forked(
        self, judged: Any, transcript: Transcript, watch: Watch, running: Running | None = None
    ) -> dict[str, Any]:
        """The verdict of a check in a fork of this process, which is ended when its time is up."""
        result, said = os.pipe()
        checker = os.fork()
        if checker == 0:
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.close(result)
            words = [text[:LONGEST_DETAIL] for text in judged()]
            wire.send(said, {"verdict": [*words, str(transcript)], "used": self._used})
            os._exit(0)
        os.close(said)
        watch.read(result)
        why = watch.until(lambda: result in watch.ended)
        watch.forget(result)
        os.kill(checker, _signal.SIGKILL)
        os.waitpid(checker, 0)
        os.close(result)
        verdict, used = _read_verdict(watch.came[result])
        if running is None:
            seconds, most = self.limits["probe_seconds"], self.limits["output_bytes"]
            reasons = {
                TOO_LARGE: (TOO_LARGE, f"more than {most} bytes printed"),
                TIMED_OUT: (TIMED_OUT, f"no answer in {seconds:g} s"),
                USED_UP: (TIMED_OUT, used_up(self.limits)),
            }
            if why:
                verdict["outcome"], verdict["detail"] = reasons[why]
            return {**verdict, **used}
        killed = verdict["outcome"] == "killed"
        if not why and killed:
            self._await_end(running, watch)
        row = self._ended(running, watch, why, self.limits)
        if why:
            return row
        row |= verdict
        return row | self._gone(row) if killed and row.get("fate") else row

    def _ended(
        self, running: Running, watch: Watch, why: str, limits: dict[str, Any]
    ) -> dict[str, Any]:
        """Stop the program if it still runs; gives its output, exit code and measurements."""
        by_itself = running.has_ended(watch)
        running.stop(watch)
        row = running.row(watch, why, limits)
        if by_itself:
            row["fate"] = running.fate(limits)
        elif not why:
            row["code"] = None
        running.close()
        return row

    def start_driver(self, first: dict[str, Any] | None = None, *, shared: bool = False) -> Running:
        """Start the program to answer calls; Python may get its only call with the start."""
        limits = self.limits
        if not self._python:
            argv = [*self.room["run"], str(REQUESTS), str(REPLIES)]
            return self._start(argv, limits, mode="exec", driven=True)
        if shared:
            # Each call has its own deadline; the process lives through all of them.
            all_calls = limits["cpu_seconds"] * (len(self.job["probes"]) + 1)
            limits = {**limits, "cpu_seconds": all_calls}
        if first is None or len(wire.dumps(first)) > LONGEST_FIRST:
            return self._start([], limits, mode="drive", driven=True)
        return self._start([], limits, mode="once", driven=True, first=first)

    def _start(
        self,
        argv: list[str],
        limits: dict[str, Any],
        *,
        mode: str,
        environment: Any = (),
        driven: bool = False,
        first: dict[str, Any] | None = None,
    ) -> Running:
        itself = self._artefact if argv[:1] == ["@"] else -1
        request = {
            "mode": mode,
            "argv": ["./solution", *argv[1:]] if itself >= 0 else argv,
            "environment": {**self.room["environment"], **dict(environment)},
            "folder": self.room["work"],
            "driven": driven,
            "first": first,
            "cpu": int(limits["cpu_seconds"] + 0.999),
            "processes": limits["processes"],
            "memory_bytes": limits.get("memory_bytes", self.room["memory_bytes"]),
            "unshared": limits.get("unshared", self.room["unshared"]),
        }
        return Running(self._starter, request, itself)


def _read_verdict(said: bytearray) -> tuple[dict[str, str], dict[str, Any]]:
    """The verdict that a checker wrote; one that cannot be read counts as killed."""
    try:
        (message,) = wire.frames(said)
        outcome, detail, value = map(str, message["verdict"])
        used = {"cpu": float(message["used"]["cpu"]), "peak_kb": int(message["used"]["peak_kb"])}
    except (wire.BadFrame, ValueError, KeyError, TypeError):
        return {"outcome": "killed", "detail": "the check ended without a result"}, {}
    value = value if len(value) <= LONGEST else ""
    return {"outcome": outcome, "detail": detail, "value": value}, used
