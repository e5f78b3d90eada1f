"""Files: found, opened, and read as tables."""
