"""One word at a time: keys and values are kept, and nothing is computed twice."""

import math

import torch

from mirada.exercises.exercise import Odd
from mirada.exercises.functions import Function, draw


def step(query, key, value, cache):
    keys = torch.cat([cache[0], key])
    values = torch.cat([cache[1], value])
    weights = (query @ keys.T / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ values, (keys, values)


def word_by_word(function, query, key, value, _):
    """All the outputs of a sentence, (length, d): those of causal attention, if the cache is kept well."""
    cache = (key[:0], value[:0])
    outputs = []
    for i in range(len(query)):
        given = function(query[i : i + 1], key[i : i + 1], value[i : i + 1], cache)
        if given is None or given is ...:
            return given
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise Odd("kv_cache.no_pair")
        output, cache = given
        if not isinstance(cache, tuple | list) or len(cache) != 2:
            raise Odd("kv_cache.no_cache")
        outputs.append(output)
    return outputs


def attended(query, keys, values, root=True):
    scale = math.sqrt(query.shape[-1]) if root else 1
    return (query @ keys.T / scale).softmax(-1) @ values


def forgets(query, key, value, cache):
    return step(query, key, value, cache)[0], cache


def not_itself(query, key, value, cache):
    return attended(query, *cache), step(query, key, value, cache)[1]


def last_two(query, key, value, cache):
    return step(query, key, value, cache)[0], (key, value)


def side_by_side(query, key, value, cache):
    keys, values = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
    return attended(query, keys, values), (keys, values)


def no_root(query, key, value, cache):
    _, (keys, values) = step(query, key, value, cache)
    return attended(query, keys, values, root=False), (keys, values)


def swapped(query, key, value, cache):
    output, (keys, values) = step(query, key, value, cache)
    return output, (values, keys)


def keys_alone(query, key, value, cache):
    keys = torch.cat([cache[0], key])
    return attended(query, keys, keys), (keys, torch.cat([cache[1], value]))


def wrong_axis(query, key, value, cache):
    _, (keys, values) = step(query, key, value, cache)
    return (query @ keys.T / math.sqrt(query.shape[-1])).softmax(0) @ values, (keys, values)


exercise = Function(
    "kv_cache",
    step,
    use=word_by_word,
    cases=[(draw(5, 3), draw(5, 3), draw(5, 3), None), (draw(7, 2), draw(7, 2), draw(7, 2), None)],
    mistakes={
        "forgets": forgets,
        "not_itself": not_itself,
        "last_two": last_two,
        "side_by_side": side_by_side,
        "no_root": no_root,
        "swapped": swapped,
        "keys_alone": keys_alone,
        "wrong_axis": wrong_axis,
    },
)
