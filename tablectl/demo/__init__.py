"""``tablectl demo``: a whole table on one machine, with nothing mocked on the way of a card."""

from tablectl.demo.play import main

__all__ = ["main"]
