"""The dealer console: a full-screen client of a table's unix socket.

All but :mod:`~tablectl.console.app` and :mod:`~tablectl.console.line` is pure: what is shown and what a key
does is made from the daemon's words and the time, without a terminal.
"""
