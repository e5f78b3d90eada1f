"""Beyond one process and one run: processes, Dask workers, and checkpoints."""
