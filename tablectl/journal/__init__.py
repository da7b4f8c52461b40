"""The journal: every row of a table's life in one SQLite file, chained by hashes, never changed.

What is in it has happened; nothing is told outside before it is in it.  One connection writes
(:mod:`tablectl.journal.appending`, on a thread of its own: :mod:`tablectl.journal.writer`); others read
(:mod:`tablectl.journal.reader`).  What is looked at and mended before it is opened is in
:mod:`tablectl.journal.repair`; a backup and the mirror are copies, row by row (:mod:`tablectl.journal.copy`).
"""

from tablectl.journal.appending import Journal
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import JournalFault, JournalUnavailable, Outgoing, Row, decode_row

__all__ = ["Journal", "JournalFault", "JournalReader", "JournalUnavailable", "Outgoing", "Row", "decode_row"]
