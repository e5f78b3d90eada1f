"""From the text of a grammar to a draft with every name looked up and every operand checked."""
