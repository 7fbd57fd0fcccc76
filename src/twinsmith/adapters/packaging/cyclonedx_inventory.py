"""Bills of materials as CycloneDX 1.6, by the project's own library."""

import hashlib
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from uuid import UUID

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from twinsmith.adapters.packaging.licences import known_licences
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import spelled
from twinsmith.core.operating.source import Source

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class CyclonedxInventory:
    """The same source and packages give the same document, word for word."""

    def __init__(self, licences: Mapping[str, str] | None = None) -> None:
        """Take licences by `name==version`; without any, those that are kept with the packages."""
        self._licences = known_licences() if licences is None else licences

    def sbom(self, source: Source, pins: Collection[Pin]) -> str:
        """The bill of materials of a program and its packages."""
        bom = Bom(serial_number=UUID(source.digest[:32]))
        # A clock would make two documents of one source.
        bom.metadata.timestamp = datetime(1970, 1, 1, tzinfo=UTC)
        root = Component(
            name=source.run or "program",
            type=ComponentType.APPLICATION,
            version=source.digest[:12],
            bom_ref="program",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=source.digest)],
        )
        bom.metadata.component = root
        parts = [_file(name, text) for name, text in sorted(source.files.items())]
        libraries = [_library(pin, self._licences.get(spelled(pin), "")) for pin in pins]
        for each in (*parts, *libraries):
            bom.components.add(each)
        bom.register_dependency(root, [*parts, *libraries])
        by_name = {pin.name: library for pin, library in zip(pins, libraries, strict=True)}
        for pin in pins:
            for parent in sorted(pin.needed_by & by_name.keys()):
                bom.register_dependency(by_name[parent], [by_name[pin.name]])
        return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _file(name: str, text: str) -> Component:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Component(
        name=name,
        type=ComponentType.FILE,
        bom_ref=f"file:{name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )


def _library(pin: Pin, licence: str) -> Component:
    return Component(
        name=pin.name,
        version=pin.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"pypi:{pin.name}@{pin.version}",
        purl=PackageURL(type="pypi", name=pin.name, version=pin.version),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        # Any file of this version that the installer may take.
        hashes=[
            HashType(alg=HashAlgorithm.SHA_256, content=found)
            for line in pin.lines[:2]
            for found in _HASH.findall(line)
        ],
    )
