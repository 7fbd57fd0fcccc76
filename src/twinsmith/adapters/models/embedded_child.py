"""The embedded model in a process of its own: a server on a loopback port.

Reads one line of JSON from standard input, answers with one line that has the address, and ends
when its standard input does: so it never outlives the process that started it.
"""

import json
import os
import sys
import threading


def main() -> None:
    """Serve until the parent is gone."""
    import xllamacpp

    wanted = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.model_alias = {wanted["version"]}
    params.n_ctx = wanted["context"]
    params.n_parallel = wanted["slots"]
    params.cpuparams.n_threads = wanted["threads"]
    params.cpuparams_batch.n_threads = wanted["threads"]
    params.kv_unified = True
    params.use_jinja = True
    params.cache_prompt = True
    params.cont_batching = True
    params.ui = False
    params.verbosity = 0
    params.port = 0
    params.api_keys = [wanted["key"]]
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)
    threading.Event().wait()


def _leave_with_the_parent() -> None:
    """End this process when its parent is gone, at once, even with a reply in flight."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
