"""``tablectl check``: each thing a table needs, looked at once."""
