"""The journal on disk: one file of JSON lines a run, and one for the system itself.

Where the chains end, the system's too, is told to the database as well: outside the files.
"""

from pathlib import Path

from twinsmith.adapters.journal.chain import Chain, read_entries, read_lines
from twinsmith.adapters.journal.chained import ChainedJournal
from twinsmith.adapters.journal.chains import NextLine
from twinsmith.adapters.journal.heads import Heads, HeadsAway
from twinsmith.core.anchor import Anchor, missed
from twinsmith.core.events import SYSTEM, Broken, Entry
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.ports import Clock

SHORTEST_PAUSE = 0.2


class FileJournal(ChainedJournal):
    """Keeps events under one folder; any number of processes of this machine may write."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        masking: Masking = NOTHING_KNOWN,
        heads: Heads | None = None,
    ) -> None:
        super().__init__(FileChains(folder, clock, heads), clock, masking, heads)


class FileChains:
    """Chains as files of one folder; an offset counts bytes."""

    def __init__(self, folder: Path, clock: Clock, heads: Heads | None) -> None:
        self._folder = folder
        self._clock = clock
        self._heads = heads
        self._ask_again = 0.0
        self._chains: dict[str, Chain] = {}

    def append(self, chain: str, key: str, next_line: NextLine) -> None:
        """Add one line under a lock, sync it, and then tell the database."""
        file = self._chain(chain)
        before = file.append(key, next_line)
        if before is not None:
            self._move_head(chain, before, file.seen)

    def lines(self, chain: str) -> list[str]:
        """All lines of a file as they stand on disk, a torn last one included."""
        return read_lines(self._path(chain))

    def since(self, chain: str, offset: int) -> tuple[list[Entry], int]:
        """The readable entries of a file behind an offset, and the offset behind them."""
        return read_entries(self._path(chain), offset)

    def end(self, chain: str) -> Anchor:
        """The length and the last hash of a chain as it is on disk."""
        return self._chain(chain).anchor()

    def names(self) -> list[str]:
        """The chains that have a file."""
        system = [SYSTEM] if self._path(SYSTEM).exists() else []
        return sorted((*system, *(path.stem for path in self._folder.glob("runs/*.jsonl"))))

    def place(self, chain: str) -> str:
        """The path of a chain's file."""
        return str(self._path(chain))

    def misfiled(self, chain: str) -> Broken | None:  # noqa: ARG002
        """Nothing: a file holds lines and nothing beside them."""
        return None

    def _move_head(self, chain: str, before: Anchor, after: Anchor) -> None:
        """Tell the database where a chain ends now; one that is behind catches up."""
        if self._heads is None or self._clock.seconds() < self._ask_again:
            return
        began = self._clock.seconds()
        try:
            if not self._heads.move(chain, before, after):
                head = self._heads.all().get(chain)
                # One that does not lie on the chain stays: the chain was cut or forged.
                if head and head.lines < after.lines and not self._strays(chain, head):
                    self._heads.move(chain, head, after)
        except HeadsAway:
            # A later line takes the head along; who takes long to say no is seldom asked.
            now = self._clock.seconds()
            self._ask_again = now + SHORTEST_PAUSE + (now - began) * 20

    def _strays(self, chain: str, head: Anchor) -> bool:
        return missed(head, self.lines(chain), "") is not None

    def _chain(self, chain: str) -> Chain:
        if chain not in self._chains:
            self._chains[chain] = Chain(self._path(chain))
        return self._chains[chain]

    def _path(self, chain: str) -> Path:
        if chain == SYSTEM:
            return self._folder / f"{SYSTEM}.jsonl"
        return self._folder / "runs" / f"{chain}.jsonl"
