"""What the tests start ends with them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.programs import REPOSITORY

RUN = """
import sys, time
from pathlib import Path
from tests.e2e import programs
programs.CONTEXT.set_forkserver_preload([])
forked = programs.Forked(time.sleep, lambda: (60,), Path(sys.argv[1]))
forked.start()
time.sleep(float(sys.argv[2]))
print(forked.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("after", ["0", "0.3"])
def test_a_daemon_does_not_outlive_a_test_run_that_was_killed(after: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path / "log"), after]
    path = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'drivers'}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | path) as run:
        assert run.stdout is not None
        left = os.pidfd_open(int(run.stdout.readline()))
        try:
            run.kill()
            assert select.select([left], [], [], 10)[0]
        finally:
            os.close(left)
