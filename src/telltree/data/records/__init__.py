"""Rows, arrays and frames of any shape -> records, the parts of a panel; and back."""
