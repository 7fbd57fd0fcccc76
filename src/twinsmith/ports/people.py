"""How people are reached."""

from typing import Protocol

from twinsmith.core.people.account import (
    Account,
    ApiKey,
    Login,
    Person,
    Recognised,
    Session,
)
from twinsmith.core.people.answered import Answered, Asking
from twinsmith.core.people.question import Answer, Asked, PersonalQuestion, QuestionRecord


class Desk(Protocol):
    """Asks a person."""

    async def ask(self, question: PersonalQuestion) -> Asked:
        """The person's answer, or the assumption where nobody is to be waited for.

        Without an answer it says until when one may come, as a message to the run.
        """
        ...


class Questions(Protocol):
    """Keeps questions and their answers, for every process that asks or answers."""

    def put(self, record: QuestionRecord) -> QuestionRecord:
        """Keep a question; one that is known stays as it is, and is given back."""
        ...

    def get(self, name: str) -> QuestionRecord | None:
        """The question of that name."""
        ...

    def answer(self, name: str, given: Answer) -> bool:
        """Keep an answer; False where there is one already, or no such question."""
        ...

    def listed(self) -> tuple[QuestionRecord, ...]:
        """Every question, oldest first."""
        ...


class Accounts(Protocol):
    """Keeps the accounts of people."""

    def get(self, name: str) -> Account | None:
        """The account of that name."""
        ...

    def listed(self) -> tuple[Account, ...]:
        """Every account, by name."""
        ...

    def save(self, account: Account, *, before: Account | None = None) -> bool:
        """Keep an account; one of the same name is replaced.

        With `before`, only where it still stands so: False where somebody changed it meanwhile.
        """
        ...

    def first(self, account: Account) -> bool:
        """Keep an account where there is none at all; False where somebody was faster."""
        ...


class Keys(Protocol):
    """Keeps API keys, revoked ones too."""

    def get(self, name: str) -> ApiKey | None:
        """The key of that id."""
        ...

    def listed(self) -> tuple[ApiKey, ...]:
        """Every key, oldest first."""
        ...

    def save(self, key: ApiKey) -> None:
        """Keep a key; one of the same id is replaced."""
        ...


class Sessions(Protocol):
    """Keeps who is signed in."""

    def find(self, digest: str) -> Session | None:
        """The session with a token of this hash, or whose token before had it."""
        ...

    def save(self, session: Session, *, new: bool = False) -> bool:
        """Keep a session that is known, or a `new` one.

        False where its token was replaced or it was ended meanwhile: then nothing is kept.
        """
        ...

    def end(self, *names: str) -> None:
        """End the sessions of these ids."""
        ...

    def listed(self, account: str) -> tuple[Session, ...]:
        """The sessions of an account, oldest first."""
        ...


class Identity(Protocol):
    """Tells who somebody is: local accounts now, single sign-on one day."""

    def by_password(self, name: str, password: str, where: str) -> Login:
        """What becomes of an attempt to sign in; a session with its token where it is right."""
        ...

    def by_session(self, token: str) -> Recognised | None:
        """The person with this cookie, with a new token where it is time for one."""
        ...

    def by_key(self, secret: str) -> Person | None:
        """The person with this API key; None where it does not hold, or never did."""
        ...

    def still(self, person: Person) -> bool:
        """Whether somebody may still do all that they could when they were recognised."""
        ...


class Answers(Protocol):
    """Keeps answers to requests with a key, for every server that is asked again."""

    def begin(self, asking: Asking, now: str) -> Answered | None:
        """Note that a request is begun; what is known of it where its key was used before.

        One that was begun long ago and never answered was lost with its server: it is begun anew.
        """
        ...

    def settle(self, asking: Asking, answered: Answered) -> None:
        """Keep the answer to a request that was begun."""
        ...

    def drop(self, asking: Asking) -> None:
        """Forget a request that came to nothing: it may be tried again."""
        ...

    def forget(self, before: str) -> None:
        """Forget all requests that were begun before a moment."""
        ...
