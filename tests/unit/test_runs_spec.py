"""An OpenAPI document as somebody gives it: in a file, or pasted into the task."""

import json
from collections.abc import Iterable

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.runs.spec import read_spec, spec_in

YAML = """openapi: 3.0.3
info: {title: Notes, version: '1'}
paths:
  /notes:
    get:
      operationId: list_notes
      responses:
        200: {description: all}
        '404': {description: none}
"""
OLDER = YAML.replace("openapi: 3.0.3", "swagger: '2.0'")
PLAIN = {"openapi": "3.0.3", "paths": {"/notes": {"get": {"responses": {}}}}}


def lines(texts: Iterable[str]) -> list[str]:
    """What is said of each text; it has to be one line."""
    said = []
    for text in texts:
        with pytest.raises(ConfigError) as raised:
            read_spec(text, "spec.yaml")
        said.append(str(raised.value))
    assert not any("\n" in each for each in said)
    return said


class TestFile:
    def test_yaml_and_json_are_the_same(self) -> None:
        told = json.loads(read_spec(YAML, "spec.yaml"))
        # Numbers as names become texts: JSON knows no others.
        assert set(told["paths"]["/notes"]["get"]["responses"]) == {"200", "404"}
        assert json.loads(read_spec(json.dumps(PLAIN), "spec.json")) == PLAIN

    def test_a_file_that_is_no_openapi_is_refused_in_one_line_with_its_name(self) -> None:
        said = lines(["paths: [", "- a list", "only words", "", "a: &x [*x]", "2026-01-31: {a: 1}"])
        assert said[0].startswith("spec.yaml is neither YAML nor JSON: ")
        assert said[0].endswith("; mend it")
        object_ = "spec.yaml is no OpenAPI document: it is not an object; mend it"
        assert said[1:4] == [object_] * 3
        assert said[4] == "spec.yaml refers to itself without end; mend it"
        assert said[5] == "spec.yaml has a date or a list as a name; put it in quotes"

    def test_what_cannot_be_built_is_told_before_anything_starts(self) -> None:
        routes: dict[str, Json] = {f"/r{n}": {"get": {"responses": {}}} for n in range(200)}
        scheme = {"securitySchemes": {"k": {"type": "apiKey"}}}
        said = lines(
            [
                json.dumps(PLAIN | {"paths": routes}),
                json.dumps(PLAIN | {"components": scheme}),
                OLDER,
            ]
        )
        assert "200 operations" in said[0]
        assert "'apiKey'" in said[1]
        assert "it says '2.0'" in said[2]


class TestTask:
    def test_a_task_without_a_document_has_none(self) -> None:
        for task in (
            "a function that doubles a number",
            "A REST API with an openapi: document of its own",
            "Read a file such as\n```yaml\na: 1\n```\nand print it",
            'A function that reads `{"openapi": true}`',
        ):
            assert spec_in(task) == ""

    @pytest.mark.parametrize("fence", ["```yaml\n{}```", "```\n{}\n```", "```yml\n{}```", "{}"])
    def test_a_pasted_document_is_found(self, fence: str) -> None:
        task = "Build what this says, in Python:\n\n" + fence.format(YAML)
        assert json.loads(spec_in(task))["paths"]["/notes"]

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_pasted_document_in_json(self, indent: int | None) -> None:
        other = {"paths": PLAIN["paths"], "openapi": "3.0.3"}
        for each in (PLAIN, other):
            text = json.dumps(each, indent=indent)
            assert json.loads(spec_in(f"Build it:\n```json\n{text}\n```\nwith tests")) == each
            assert json.loads(spec_in(f"Build it:\n{text}")) == each

    def test_a_pasted_document_that_cannot_be_built_is_refused(self) -> None:
        for task in (
            f"Build it:\n```yaml\n{YAML.replace('paths', 'ways')}```",
            f"Build it:\n```yaml\n{OLDER}```",
            f"Build it:\n{YAML}and nothing else",
        ):
            with pytest.raises(ConfigError):
                spec_in(task)
