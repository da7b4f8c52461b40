"""What a technician works with: recordings, verdicts, what is plugged in and where."""
