"""What the author of a grammar wrote -> a draft with every name looked up and every operand checked."""
