"""What the self-healing agent acts with: actions, builds that mend, dossiers, the graph."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError, EngineError, TwinsmithError
from twinsmith.core.operating.action import Action, ActionKind
from twinsmith.core.operating.alarm import Alarm, Severity
from twinsmith.core.operating.app import App, Release, diff
from twinsmith.core.operating.incident import Incident
from twinsmith.core.operating.instance import instance_name
from twinsmith.core.operating.reading import Reading
from twinsmith.core.operating.remedy import NOTICES
from twinsmith.core.operating.trouble import (
    Evidence,
    Trouble,
    growth_of,
    lines_of,
    requests_of,
)
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job
from twinsmith.core.telemetry import Trace
from twinsmith.flow.handed import incident_told, place_of
from twinsmith.flow.operate.heal import Ward
from twinsmith.flow.traced import incident_place
from twinsmith.runs.book import Book
from twinsmith.runs.crew import Crew
from twinsmith.runs.deploy import deploying
from twinsmith.runs.dossier import put_dossier, story_of
from twinsmith.runs.fixing import job_for
from twinsmith.runs.mender import Mender
from twinsmith.runs.submit import RESEED, new_run
from twinsmith.wiring.delivering import apps_of, hosting_of, releases_of, terms_of
from twinsmith.wiring.watching import incidents_of, meter_of

LOG_LINES = 200


class Healing:
    """The deeds for incidents of one book; `tell` tells people what becomes of one."""

    def __init__(
        self,
        book: Book,
        crew: Crew,
        mender: Mender,
        tell: Callable[[Incident, Severity, str], Awaitable[None]],
    ) -> None:
        settings = book.settings
        self._book = book
        self._crew = crew
        self._mender = mender
        self._apps = apps_of(settings)
        self._releases = releases_of(settings)
        self._meter = meter_of(settings)
        self.ward = Ward(
            incidents=incidents_of(settings),
            act=self._action,
            begin=crew.begin,
            fixing=self._fixing,
            mend=mender.begin,
            learn=self._learn,
            tell=tell,
        )

    async def evidence(self, app: App, alarm: Alarm, readings: tuple[Reading, ...]) -> Evidence:
        """What can be read of a release in trouble, before anything is done about it."""
        log = ""
        try:
            name = instance_name(app.name, alarm.release)
            host = hosting_of(self._book.settings, app.host).host
            log = await host.logs(name, lines=LOG_LINES)
        except TwinsmithError:
            # A host that does not answer is told of by whoever looks at the app.
            pass
        mine = [each for each in readings if each.release == alarm.release]
        return Evidence(
            requests=requests_of(await self._meter.failed(app.name)),
            said=lines_of(self._book.settings.masking.text(log)),
            growth=growth_of(mine, alarm.kind),
        )

    async def over(self, incident: Incident, *, overridden: bool = False) -> str | None:
        """Why what is under way for an incident was not done; empty: it was; None: not over.

        A build that looks for a fix stands still for as long as a person holds the app.
        """
        run = incident.run
        if not run:
            return None
        if incident.stage == "fixing":
            if overridden:
                self._mender.park(run)
            if overridden or self.lost(incident):
                return None
            await self._mender.see_to(run)
            return self._mender.ended(run)
        return await self._crew.refused(run)

    def place(self, incident: Incident) -> Trace:
        """Where an incident goes on: in the trace of the release that has the trouble."""
        return incident_place(incident.id, self._released(incident))

    def told(self, incident: Incident) -> None:
        """Tell telemetry that an incident began, or that it is over."""
        incident_told(incident, self._released(incident), self._book.telemetry)

    def _released(self, incident: Incident) -> str:
        """The place in its trace of the run that released what has the trouble."""
        try:
            release = self._numbered(incident.app, incident.troubled)
            return place_of(self._book.given(release.run)).text
        except (ConfigError, EngineError):
            return ""

    def lost(self, incident: Incident) -> bool:
        """Whether something was to be done for an incident, and a kill came before it was begun."""
        if not incident.run or self._crew.is_busy(incident.run):
            return False
        return self._book.driving.get(incident.run) is None

    def known(self, incident: Incident) -> Incident:
        """The incident with the cause that its last attempt has found, where it has."""
        if not incident.attempts or incident.attempts[-1].cause:
            return incident
        stages = self._book.progress(incident.attempts[-1].run).stages
        cause = next((each.note for each in stages if each.name == "diagnose"), "")
        last = replace(incident.attempts[-1], cause=cause)
        return replace(incident, attempts=(*incident.attempts[:-1], last))

    def _action(self, incident: Incident, kind: ActionKind, to: int) -> Action:
        app = self._apps.get(incident.app)
        assert app is not None
        action = Action(
            run=new_run(),
            kind=kind,
            app=app.name,
            host=app.host,
            to=to,
            by=self._book.actor.signature,
            trigger="heal",
            terms=terms_of(self._book.settings),
            trace=self.place(incident).text,
        )
        if kind == "deploy":
            mended = deploying(self._book, incident.attempts[-1].run, name=app.name)
            return replace(action, deliverable=mended.deliverable, about=story_of(incident))
        if kind == "hand over":
            proposed = self._proposed(incident)
            folder = put_dossier(self._book, incident, self._changes(incident))
            about = (*story_of(incident), f"all of it, with plots: {folder}")
            return replace(
                action, deliverable=proposed.deliverable if proposed else None, about=about
            )
        return action

    def _proposed(self, incident: Incident) -> Action | None:
        """The release of the last attempt that passes all checks; None where there was none."""
        for attempt in reversed(incident.attempts):
            if self._book.progress(attempt.run).state == "solved":
                try:
                    return deploying(self._book, attempt.run, name=incident.app)
                except ConfigError:
                    continue
        return None

    def _fixing(self, incident: Incident) -> Job:
        """The build that mends the release of an incident; ConfigError where none can."""
        given = self._book.settings.values
        budget = Budget(
            tokens=given.monitor.fix_tokens,
            seconds=given.monitor.fix_seconds,
            usd=given.build.budget_usd or None,
        )
        release = self._numbered(incident.app, incident.mended)
        serious = [each for each in incident.alarms if each.kind not in NOTICES]
        first = (serious or list(incident.alarms))[0]
        tried = [
            f"attempt {number} was no fix: {each.why}"
            for number, each in enumerate(incident.attempts, 1)
        ]
        trouble = Trouble(
            incident=incident.id,
            kind=first.kind,
            told=first.evidence,
            evidence=incident.evidence,
            diff=self._diff(release),
            tried=tuple(tried),
        )
        job = job_for(self._book, release, "", budget=budget, trouble=trouble)
        seed = job.seed + RESEED * len(incident.attempts)
        return replace(job, seed=seed, trace=self.place(incident).text)

    def _diff(self, release: Release) -> str:
        """What changed between the release that served before and one that had trouble."""
        if not release.parent:
            return ""
        parent = self._numbered(release.app, release.parent)
        old, new = parent.deliverable.source.program, release.deliverable.source.program
        return diff({"service": old.source}, {"service": new.source})

    def _numbered(self, app: str, number: int) -> Release:
        for each in self._releases.listed(app):
            if each.number == number:
                return each
        raise ConfigError(f"app {app} has no release {number} any more")

    def _changes(self, incident: Incident) -> dict[str, str]:
        """What each attempt changed in the release that it mended, by its run."""
        changes: dict[str, str] = {}
        for attempt in incident.attempts:
            if self._book.progress(attempt.run).state not in ENDED:
                continue
            try:
                fixed = deploying(self._book, attempt.run, name=incident.app).deliverable
                before = self._numbered(incident.app, incident.mended).deliverable
            except ConfigError:
                continue
            if fixed is not None:
                old, new = before.source.program.source, fixed.source.program.source
                changes[attempt.run] = diff({"service": old}, {"service": new})
        return changes

    async def _learn(self, incident: Incident) -> None:
        """Keep in the graph what helped and what did not; without a graph the journal has it."""
        from twinsmith.flow.incidents import learn
        from twinsmith.wiring.graph import opened_graph

        try:
            async with opened_graph(self._book.settings) as graph:
                await learn(self.known(incident), self._changes(incident), graph)
        except TwinsmithError as error:
            await self._book.tell(incident.id, "incident.unlearned", {"reason": str(error)})
