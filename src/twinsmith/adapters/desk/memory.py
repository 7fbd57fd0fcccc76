"""Questions to people in a dictionary: the fake."""

from dataclasses import replace

from twinsmith.core.people.question import Answer, QuestionRecord


class MemoryQuestions:
    """Questions for as long as the process lives."""

    def __init__(self) -> None:
        self._records: dict[str, QuestionRecord] = {}

    def put(self, record: QuestionRecord) -> QuestionRecord:
        """Keep a question; one that is known stays as it is, and is given back."""
        return self._records.setdefault(record.question.id, record)

    def get(self, name: str) -> QuestionRecord | None:
        """The question of that name."""
        return self._records.get(name)

    def answer(self, name: str, given: Answer) -> bool:
        """Keep an answer; False where there is one already, or no such question."""
        record = self._records.get(name)
        if record is None or record.answer is not None:
            return False
        self._records[name] = replace(record, answer=given)
        return True

    def listed(self) -> tuple[QuestionRecord, ...]:
        """Every question, oldest first."""
        return tuple(
            sorted(self._records.values(), key=lambda each: (each.asked, each.question.id))
        )
