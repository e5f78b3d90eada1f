"""Which rules wrote a formula: derivations, one by one and whole populations, and how they are drawn."""
