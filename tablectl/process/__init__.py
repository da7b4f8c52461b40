"""The process around a table: watchdog, its threads' order, reload, and what is kept of a failure."""
