"""The command line. The entry point is :func:`main`; the commands are in the modules beside it."""

from tablectl.cli.root import main

__all__ = ["main"]
