"""A task of your own: `mirada train docs/my_task.py`, or `mirada.train("docs/my_task.py")`.

Each place of a row says which letter comes up most often in it (of several, the first in the alphabet).
To know it, every place has to look at all the others; where it stands does not matter.
"""

import torch.nn.functional as F

from mirada import EncoderTask


class Commonest(EncoderTask):
    name = "commonest"
    symbols = "abcde"  # what a row is made of, one letter each; so are the answers
    length = 11  # of the rows

    def targets(self, rows):
        """The right answers to rows of tokens, 0 to 4: (batch, length) to (batch, length)."""
        counts = F.one_hot(rows, len(self.symbols)).sum(1)  # how many of each letter: (batch, letters)
        return counts.argmax(1, keepdim=True).expand_as(rows)
