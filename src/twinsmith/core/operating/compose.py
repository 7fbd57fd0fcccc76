"""The compose file of a program: the same walls as everywhere, in the words of an engine."""

from twinsmith.core.operating.containerfile import DATA, PORT, STOP_SECONDS
from twinsmith.core.operating.source import Source

MEMORY_MB = 512
PROCESSES = 128
_HEAD = """# docker compose up --build, or: podman-compose up --build
services:
  app:
    build: .
    image: twinsmith-app:{tag}
    init: true
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    tmpfs: ["/tmp:size=64m,mode=1777"]
    mem_limit: {memory}m
    pids_limit: {processes}
    stop_grace_period: {grace}s
    logging:
      driver: json-file
      options: {{max-size: 1m, max-file: "2"}}
"""
_SERVICE = """    restart: unless-stopped
    ports: ["127.0.0.1:{port}:{port}"]
    # Secrets, such as SECRET_KEY, one NAME=value a line; never part of the image.
    env_file: [{{path: secrets.env, required: false}}]
    volumes: ["data:{data}"]

volumes:
  data: {{}}
"""


def compose(source: Source) -> str:
    """The text of the compose file."""
    head = _HEAD.format(
        tag=source.digest[:12], memory=MEMORY_MB, processes=PROCESSES, grace=STOP_SECONDS + 5
    )
    if source.program.kind != "service":
        return head
    return head + _SERVICE.format(port=PORT, data=DATA)
