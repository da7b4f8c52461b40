"""The local interface of a table: HTTP over its unix socket, and the read-only address."""
