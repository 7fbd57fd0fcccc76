"""The same release with Kamal 2 and with Kubernetes as they are commonly described: not run.

Written from memory and from pages about them, not from their manuals line by line.
"""

NOTE = "not measured, not run: Kamal 2 and Kubernetes as commonly documented; check before quoting"
WHO = ("twinsmith", "Kamal", "Kubernetes")
STEPS: dict[str, tuple[str, str, str]] = {
    "command": (
        "twinsmith deploy FOLDER",
        "kamal deploy",
        "kubectl apply or set image, after an image was built and pushed by other means",
    ),
    "steps": (
        "scan, image, try on empty data, rehearse on a copy of it, canary, switch, drain, soak",
        "build, push, pull, start the new container, wait for its health, switch, stop the old one",
        "start new pods by maxSurge, wait until they are ready, end old ones, until all are new",
    ),
    "gates before the first request": (
        "scan, health, the checks it was accepted by, attacks, passwords it keeps, the old data",
        "HTTP health of the new container (GET /up gives 200); hooks that one writes oneself",
        "readiness probe, where one is configured; admission policies, where there are some",
    ),
    "gates after it": (
        "canary share with both versions compared; soak: ended, restarted or silent",
        "none by itself",
        "readiness and minReadySeconds (0 unless set); liveness restarts a pod",
    ),
    "who rolls back": (
        "it does, in the canary and in the soak; later a person: twinsmith rollback APP",
        "before the switch the old container just stays; later a person: kamal rollback VERSION",
        "nobody: what stalls is reported (after 600 s unless set); a person: kubectl rollout undo",
    ),
    "requests in the switch": (
        "a link is renamed; the old version is stopped a second later, once it has drained",
        "the proxy switches, lets requests in flight finish (drain_timeout, 30 s unless set)",
        "endpoints and SIGTERM change at the same time; a preStop hook that waits is one's own",
    ),
    "data": (
        "one volume an app; new and old are rehearsed on a copy, or --replace with a backup",
        "volumes as configured; migrations are the app's own matter",
        "volumes as configured; migrations are the app's own matter (Jobs, init containers)",
    ),
    "a person's word": (
        "approvals by a policy, a queue, an override that stops everything",
        "a lock against two deploys at once; hooks",
        "rollout pause and resume; rights by RBAC; approvals by tools on top",
    ),
    "machines": ("one", "several, over SSH", "a cluster"),
}


def documented() -> list[str]:
    """The table as lines: for each question what each of the three does."""
    lines = [NOTE]
    for question, answers in STEPS.items():
        lines.append(f"  {question}")
        lines += [f"    {who:<11}{said}" for who, said in zip(WHO, answers, strict=True)]
    return lines
