"""tablectl: the open controller for a live-dealer baccarat table."""

__version__ = "0.1.0"
