"""Everything that can go wrong, split by who has to act.

TwinsmithError
├── ConfigError         the operator: a setting, a flag, a file, a folder
│   ├── Unknown         … a name that nothing has
│   │   └── UnknownRun  … a run that is not in the journal
│   ├── Conflict        … it was decided, answered or made already
│   └── Forbidden       … somebody who may not do it
├── RunBusy             whoever started it: another process is driving this run
├── RunLost             nobody: another worker took this run over
├── Waiting             a person: the run is parked until a question is answered
├── RunCancelled        nobody: a person stopped the run for good
├── ModelUnavailable    the gateway: no model could answer
├── SandboxError        the machine: nothing here can run untrusted code safely
├── HostError           the machine: what runs programs for good, or the proxy, cannot be used
├── EngineError         the machine: the durable engine cannot go on
│   └── DatabaseAway    … its database is out of reach for now
├── InternalError       us: a fault of twinsmith itself; the traceback is kept
├── BadReply            the model: it answered, and the answer cannot be used
└── BudgetExceeded      the budget: tokens or seconds are spent

A failing *generated* program is none of these: it is a result.
"""


class TwinsmithError(Exception):
    """The root: its text is one line that says what, which value and what next."""


class ConfigError(TwinsmithError):
    """A setting, flag, file or folder that the operator has to mend."""


class Unknown(ConfigError):
    """A name that nothing has."""


class Conflict(ConfigError):
    """What was wanted was decided, answered or made already, and stays so."""


class Forbidden(ConfigError):
    """Somebody who may not do this."""


class UnknownRun(Unknown):
    """A run that the journal does not know."""


class RunBusy(TwinsmithError):
    """Another process is driving this run."""


class RunLost(TwinsmithError):
    """Another worker has taken this run over: nothing may be done for it here any more."""


class Waiting(TwinsmithError):
    """A message is missing, and the run does not wait for it in this process."""

    def __init__(self, text: str, *, topic: str = "", until: str = "") -> None:
        super().__init__(text)
        self.topic = topic
        self.until = until


class RunCancelled(TwinsmithError):
    """A person stopped this run for good."""


class ModelUnavailable(TwinsmithError):
    """No model could answer."""


class SandboxError(TwinsmithError):
    """Nothing on this machine can run untrusted code safely."""


class HostError(TwinsmithError):
    """What runs deployed programs, or the proxy before them, cannot be used."""


class EngineError(TwinsmithError):
    """The durable engine or its database cannot be used."""


class DatabaseAway(EngineError):
    """A database cannot be reached for now: what was asked of it may be asked again."""


class InternalError(TwinsmithError):
    """A fault of twinsmith itself."""


class BadReply(TwinsmithError):
    """A model's answer that cannot be used; it is billed all the same."""


class BudgetExceeded(TwinsmithError):
    """The run has spent what it was given."""
