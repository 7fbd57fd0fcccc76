"""What was typed after `twinsmith build`: what is wanted, and in what manner it is followed."""

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.core.budget import Budget
    from twinsmith.core.driving import Priority
    from twinsmith.settings.values import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A task as it was typed, with its files, and what may be spent on it; not read yet."""

    text: str = ""
    language: str = ""
    kind: str = ""
    tests: Path | None = None
    spec: Path | None = None
    seed: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None
    other: tuple[str, ...] = ()
    """In what other way than the settings say."""

    @property
    def nothing(self) -> bool:
        """Whether nothing at all was typed."""
        return all(each is None or each in ("", ()) for each in astuple(self))

    def budget(self, settings: "Build") -> "Budget":
        """What may be spent: as it was typed, else as the settings have it."""
        from twinsmith.core.budget import Budget

        usd = settings.budget_usd if self.usd is None else self.usd
        return Budget(
            tokens=settings.budget_tokens if self.tokens is None else self.tokens,
            seconds=settings.budget_seconds if self.seconds is None else self.seconds,
            usd=usd or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a build is followed, and what becomes of it."""

    out: Path | None = None
    detach: bool = False
    priority: "Priority" = "normal"
    key: str | None = None
    deploy: bool = False
    name: str = ""
    as_json: bool = False
