"""Transcripts of questions and answers, masked, kept for as many days as settings say."""

import json
import os
from datetime import date, timedelta
from pathlib import Path

from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.model import Prompt, Reply
from twinsmith.ports import Clock


class Transcripts:
    """Files of transcripts, one a day; those beyond the retention period are removed."""

    def __init__(
        self, folder: Path, days: int, clock: Clock, masking: Masking = NOTHING_KNOWN
    ) -> None:
        self._folder = folder
        self._days = days
        self._clock = clock
        self._masking = masking

    def keep(self, prompt: Prompt, reply: Reply) -> None:
        """Add one question and its answer to today's file."""
        if self._days <= 0:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        line = {
            "at": self._clock.now(),
            "key": prompt.key,
            "role": prompt.role,
            "model": reply.model,
            "prompt": self._masking.text(prompt.text),
            "reply": self._masking.text(reply.text),
        }
        path = self._folder / f"{self._clock.now()[:10]}.jsonl"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, (json.dumps(line, ensure_ascii=False) + "\n").encode())
        finally:
            os.close(file)

    def prune(self) -> None:
        """Remove the files of days beyond the retention period."""
        oldest = date.fromisoformat(self._clock.now()[:10]) - timedelta(days=max(self._days, 0))
        for path in self._folder.glob("????-??-??.jsonl"):
            if path.stem < oldest.isoformat():
                path.unlink(missing_ok=True)
