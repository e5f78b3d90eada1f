"""Values of one column: their type, their names, and how they are stored."""
