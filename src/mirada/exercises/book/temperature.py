"""A temperature divides the scores before the softmax."""

from mirada.exercises.functions import Function, draw


def weights(scores, T):
    return (scores / T).softmax(-1)


exercise = Function(
    "temperature",
    weights,
    cases=[(draw(5, 7), 0.5), (draw(3, 11), 4.0), (draw(5, 5), 1.0)],
    mistakes={
        "multiplied": lambda scores, T: (scores * T).softmax(-1),
        "minus": lambda scores, T: (-scores / T).softmax(-1),
        "afterwards": lambda scores, T: scores.softmax(-1) / T,
        "ignored": lambda scores, T: scores.softmax(-1),
        "root": lambda scores, T: (scores / T**0.5).softmax(-1),
        "wrong_axis": lambda scores, T: (scores / T).softmax(0),
        "no_softmax": lambda scores, T: scores / T,
        "not_shared": lambda scores, T: (scores / T).exp(),
        "sum_of_all": lambda scores, T: (scores / T).exp() / (scores / T).exp().sum(),
        "no_keepdim": lambda scores, T: (scores / T).exp() / (scores / T).exp().sum(-1),
        "no_exponential": lambda scores, T: scores / scores.sum(-1, keepdim=True),
        "power": lambda scores, T: scores.softmax(-1) ** (1 / T),
    },
)
