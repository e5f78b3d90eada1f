"""Languages that telltree writes itself, to suit the records at hand."""
