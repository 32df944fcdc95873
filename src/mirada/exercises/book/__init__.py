"""One file an exercise: its solution, the typical mistakes, and what it is tried on."""
