"""The `twinsmith` command: its subcommands, and the one place where errors end."""

import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, Exit, TyperException

from twinsmith import __version__
from twinsmith.cli import (
    alerts,
    analyse,
    apps,
    build,
    cases,
    costs,
    doctor,
    execute,
    exits,
    experiment,
    fetch,
    fix,
    health,
    insights,
    knowledge,
    log,
    model_versions,
    package,
    people,
    questions,
    remote,
    resources,
    runs,
    serve,
    telemetry,
    users,
    verify,
    worker,
)
from twinsmith.core.errors import TwinsmithError

app = typer.Typer(
    help="One sentence in; a tested program out.",
    epilog=exits.MEANING,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"twinsmith {__version__}")
        raise Exit(0)


@app.callback()
def _options(
    context: typer.Context,
    server: Annotated[str, typer.Option("--server", metavar="URL", help=remote.HELP)] = "",
    _told: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if server:
        remote.name_server(context, server)


app.command("build", epilog=build.BUILD_EXAMPLE)(build.build)
app.command("status", epilog=runs.STATUS_EXAMPLE)(runs.status)
app.command("watch", epilog=runs.WATCH_EXAMPLE)(runs.watch)
app.command("resume", epilog=build.RESUME_EXAMPLE)(build.resume)
app.command("cancel", epilog=runs.CANCEL_EXAMPLE)(runs.cancel)
app.command("fetch", epilog=fetch.EXAMPLE)(fetch.fetch)
app.command("worker", epilog=worker.WORKER_EXAMPLE)(worker.worker)
app.command("workers", epilog=worker.WORKERS_EXAMPLE)(worker.workers)
app.command("questions", epilog=questions.QUESTIONS_EXAMPLE)(questions.questions)
app.command("answer", epilog=questions.ANSWER_EXAMPLE)(questions.answer)
app.command("log", epilog=log.EXAMPLE)(log.log)
app.command("verify", epilog=verify.EXAMPLE)(verify.verify)
app.command("package", epilog=package.EXAMPLE)(package.package)
app.command("deploy", epilog=apps.DEPLOY_EXAMPLE)(apps.deploy)
app.command("apps", epilog=apps.APPS_EXAMPLE)(apps.apps)
app.command("releases", epilog=apps.RELEASES_EXAMPLE)(apps.releases)
app.command("rollback", epilog=apps.ROLLBACK_EXAMPLE)(apps.rollback)
app.command("logs", epilog=apps.LOGS_EXAMPLE)(apps.logs)
app.command("stop", epilog=apps.STOP_EXAMPLE)(apps.stop)
app.command("start", epilog=apps.START_EXAMPLE)(apps.start)
app.command("restart", epilog=apps.RESTART_EXAMPLE)(apps.restart)
app.command("remove", epilog=apps.REMOVE_EXAMPLE)(apps.remove)
app.command("approvals", epilog=people.APPROVALS_EXAMPLE)(people.approvals)
app.command("approve", epilog=people.APPROVE_EXAMPLE)(people.approve)
app.command("reject", epilog=people.REJECT_EXAMPLE)(people.reject)
app.command("modify", epilog=people.MODIFY_EXAMPLE)(people.modify)
app.command("queue", epilog=people.QUEUE_EXAMPLE)(people.queue)
app.command("override", epilog=people.OVERRIDE_EXAMPLE)(people.override)
app.command("fix", epilog=fix.EXAMPLE)(fix.fix)
app.command("serve", epilog=serve.EXAMPLE)(serve.serve)
app.add_typer(users.users, name="users")
app.add_typer(users.keys, name="keys")
app.command("monitor", epilog=health.MONITOR_EXAMPLE)(health.monitor)
app.command("health", epilog=health.HEALTH_EXAMPLE)(health.health)
app.command("incidents", epilog=health.INCIDENTS_EXAMPLE)(health.incidents)
app.add_typer(alerts.alerts, name="alerts")
app.command("costs", epilog=costs.EXAMPLE)(costs.costs)
app.command("analyse", epilog=analyse.EXAMPLE)(analyse.analyse)
app.add_typer(resources.resources, name="resources")
app.command("trace", epilog=telemetry.TRACE_EXAMPLE)(telemetry.trace)
app.add_typer(telemetry.telemetry, name="telemetry")
app.add_typer(experiment.experiment, name="experiment")
app.add_typer(cases.cases, name="cases")
app.add_typer(model_versions.models, name="models")
app.add_typer(knowledge.knowledge, name="knowledge")
app.command("insights", epilog=insights.EXAMPLE)(insights.insights)
app.command("exec", epilog=execute.EXAMPLE)(execute.execute)
app.command("doctor", epilog=doctor.EXAMPLE)(doctor.doctor)


def run() -> None:
    """Run the command; every expected error is one line and an exit code."""
    as_json = "--json" in sys.argv[1:]
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        exits.fail(
            f"{error.format_message()} Try: twinsmith --help", exits.BAD_INPUT, as_json=as_json
        )
    except TwinsmithError as error:
        exits.fail(str(error), exits.code_of(error), as_json=as_json)
    except (Abort, KeyboardInterrupt):
        exits.fail("interrupted", exits.INTERRUPTED, as_json=as_json)
    except BrokenPipeError:
        # The reader (`head`, `less`) has seen enough.
        sys.stderr.close()
        raise SystemExit(0) from None
    raise SystemExit(code or 0)
