"""What a call pays for being counted: seconds to set it aside and to pay it, by calls so far.

    .venv/bin/python bench/spending.py [CALLS]

A database of SQLite with so many calls of this month, of ten people, three allowances.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

from twinsmith.adapters.costs.table import CALLS, DAYS, TABLES, PurseTable
from twinsmith.adapters.sql import Database
from twinsmith.core.costs.allowance import Amount, Payer, allowance_in, bounds_of
from twinsmith.core.costs.claim import Claim

TRIES = 50
LINES = ("day 1000000000 tokens", "person month 1000000000 tokens", "team month 1000000 usd")
NOW = "2026-11-19T10:00:00+00:00"


def main() -> None:
    """Print the median of both, in milliseconds."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'runs.db'}"
        purse = PurseTable(url)
        amount = Amount(tokens=1500, usd=0.01, seconds=3.0)
        filled(url, calls)
        bounds = bounds_of(
            tuple(map(allowance_in, LINES)),
            Payer(run="r", person="p3"),
            NOW,
            {"blue": ("p1", "p2", "p3")},
        )
        asides, pays = [], []
        for number in range(TRIES):
            payer = Payer(run="r", person="p3")
            claim = Claim(key=f"new/{number}", payer=payer, day=NOW[:10], amount=amount)
            began = time.perf_counter()
            assert purse.set_aside(claim, bounds) == ()
            asides.append(time.perf_counter() - began)
            began = time.perf_counter()
            purse.pay(claim)
            pays.append(time.perf_counter() - began)
        print(
            f"{calls} calls: set aside {1000 * median(asides):.2f} ms, "
            f"pay {1000 * median(pays):.2f} ms"
        )


def filled(url: str, calls: int) -> None:
    """Put calls of this month into a database, with their sums."""
    rows = [
        {
            "key": f"old/{number}",
            "day": f"2026-11-{1 + number % 19:02}",
            "run": f"r{number // 100}",
            "person": f"p{number % 10}",
            "app": "",
            "paid": 1,
            "tokens": 1500,
            "usd": 0.01,
            "seconds": 3.0,
            "until": 0.0,
        }
        for number in range(calls)
    ]
    places = Counter((row["day"], row["person"]) for row in rows)
    days = [
        {
            "day": day,
            "person": person,
            "app": "",
            "tokens": 1500 * count,
            "usd": 0.01 * count,
            "seconds": 3.0 * count,
        }
        for (day, person), count in places.items()
    ]
    with Database(url, TABLES).transaction() as connection:
        connection.execute(CALLS.insert(), rows)
        connection.execute(DAYS.insert(), days)


if __name__ == "__main__":
    main()
