"""Holds one thread of a process still, as a driver that hangs in the kernel would, while the others run.

A program of its own: ``python freeze.py TID``. It traces the thread, says ``frozen``, and stays until the
process has ended (a tracer that leaves lets go).
"""

from __future__ import annotations

import ctypes
import os
import sys

SEIZE, INTERRUPT, ALL = 0x4206, 0x4207, 0x40000000


def main(thread: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    for request in (SEIZE, INTERRUPT):
        if libc.ptrace(request, thread, None, None):
            print(os.strerror(ctypes.get_errno()), flush=True)
            return 1
    os.waitpid(thread, ALL)  # it stands
    print("frozen", flush=True)
    while True:
        try:
            _, status = os.waitpid(thread, ALL)
        except ChildProcessError:
            return 0
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
