"""Delivery of the journal's public events to the game server: in sequence, at least once."""
