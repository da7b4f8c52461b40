"""Beepers that ship with tablectl: each module's ``make(settings)`` returns one (see tablectl.signals)."""
