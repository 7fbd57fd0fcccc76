"""An install of the default model, killed ten times at random moments, then finished.

Run with: python -m bench.installs
"""

import argparse
import hashlib
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from twinsmith.adapters.models import catalogue

CHILD = """
import asyncio, sys
from pathlib import Path
from twinsmith.adapters.models.catalogue import find
from twinsmith.adapters.models.install import ModelStore
print(asyncio.run(ModelStore(Path(sys.argv[1])).install(find(sys.argv[2]), lambda d, t: None)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    options = parser.parse_args()
    model = catalogue.find(options.model)
    chance = random.Random(0)
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-installs-"))
    command = [sys.executable, "-c", CHILD, str(folder), model.name]
    kills = 0
    try:
        while True:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                patience = chance.uniform(0.5, 4.0) if kills < options.kills else 1200
                out, _ = child.communicate(timeout=patience)
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                kills += 1
                half_used = list(folder.glob(f"{model.name}/*"))
                assert not half_used, half_used
        file = Path(out.strip())
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        print(f"{model.name}: {kills} kills, then finished; SHA-256 {digest}")
        print("the right one" if digest == model.sha256 else f"WRONG, expected {model.sha256}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
