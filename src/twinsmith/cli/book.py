"""The book of runs as the person at this terminal opens it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.core.people.actor import Way
    from twinsmith.runs.book import Book
    from twinsmith.settings import Settings


def opened_book(settings: "Settings | None" = None, *, way: "Way" = "terminal") -> "Book":
    """The runs of this home; whoever is logged in here signs what is done with them."""
    import getpass

    from twinsmith.core.people.actor import Actor
    from twinsmith.runs.book import Book
    from twinsmith.settings import load

    return Book(settings or load(), Actor(name=getpass.getuser(), way=way))
