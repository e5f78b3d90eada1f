"""Values of one column: what type they are, what they are called, and how they are stored."""
