"""The reference game server: takes a table's events as the contract asks, and can tell its results."""
