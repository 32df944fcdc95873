"""One file an exercise: its solution, the typical mistakes, and what it is tried on.

To add one: its file here, its line in `listing.py`, and its texts in each language: `.title`, `.question`,
`.why`, and a hint for each mistake, under the mistake's name. The tests hold it to the rest.
"""
