"""The lesson as it travels with the library: its chapters, read and turned into notebooks.

The chapters themselves are Markdown, in `lesson/en` and `lesson/es`; the site is made of the same files.
"""
