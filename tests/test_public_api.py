"""What `import mirada` promises: its names, their signatures, and that each says what goes in."""

import ast
import importlib
import inspect
import pkgutil
import re
import types
from importlib.metadata import version

import pytest

import mirada

# A shape as it is written: (batch, heads, length, head_dim), (…, queries, d), (length,).
SHAPE = re.compile(r"\((?:…|\.\.\.|batch|length|queries|channels)(?:=\S+)?,[^()]*\)")
NAMES = [name for name in mirada.__all__ if name != "__version__"]
SIGNATURES = {
    "attention": "(query, key, value, mask=None, *, temperature=1.0, dropout=0.0)",
    "attention_weights": "(query, key, mask=None, *, temperature=1.0)",
    "sinusoidal_positions": "(length, d_model, *, device=None, dtype=None)",
    "LearnedPositions": "(length, d_model, *, device=None, dtype=None)",
    "SinusoidalPositions": "(d_model)",
    "RotaryPositions": "(head_dim, *, base=10000.0, layout='half')",
    "RotaryPositions.forward": "(self, x, positions=None)",
    "MultiHeadAttention": "(d_model, num_heads, *, num_kv_heads=None, head_dim=None, d_context=None, "
    "bias=True, dropout=0.0, rotary=None, device=None, dtype=None)",
    "MultiHeadAttention.forward": "(self, x, context=None, mask=None, *, cache=None, positions=None)",
    "MultiHeadAttention.weights": "(self, x, context=None, mask=None, *, cache=None, positions=None)",
    "KVCache": "(batch, num_kv_heads, max_length, head_dim, *, device=None, dtype=None)",
    "TransformerBlock.forward": "(self, x, context=None, mask=None, context_mask=None, *, cache=None, "
    "context_cache=None, positions=None)",
    "from_torch": "(layer)",
    "to_torch": "(layer)",
    "Mask.causal": "(*, first=None)",
    "Mask.padding": "(lengths, side='right')",
    "Mask.allowed": "(table)",
    "Mask.blocked": "(table)",
    "Mask.bias": "(table)",
    "watch": "(model, modules=None, *, heads=None, edits=(), memory=8000000000)",
    "record": "(query, key, mask=None, *, value=None, output=None, temperature=1.0, scale=None)",
    "compare": "(model, inputs, edits)",
    "load_gaze": "(path)",
    "Look.weights": "(self, heads=None, rows=None)",
    "Look.top": "(self, k=16, heads=None, rows=None)",
    "Look.scene": "(self, head, sample=0, tokens=None, rows=None)",
    "Gaze.rollout": "(self, rows=None, sample=0)",
    "Gaze.overlay": "(self, image, *, layer=-1, head=None, query='[CLS]', grid=None, registers=0, "
    "temperature=1.0, sample=0, language='en')",
    "patches": "(images, size)",
    "unpatch": "(sequence, size, grid)",
    "crop": "(images, size)",
    "pad": "(images, size)",
    "from_vit": "(theirs)",
    "VisionTransformer.forward": "(self, images)",
    "Gaze.save": "(self, path, dtype=torch.float32)",
    "edits.block_look": "(query=None, key=None, *, modules=(), heads=None)",
    "edits.ablate_head": "(*, modules=(), heads=None, mean=False)",
    "edits.temperature": "(value, *, modules=(), heads=None)",
    "edits.add_to_query": "(vector, query=None, *, modules=(), heads=None)",
    "edits.add_to_key": "(vector, key=None, *, modules=(), heads=None)",
    "edits.patch": "(gaze, *, modules=(), heads=None)",
}


def public(path):
    thing = mirada
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


def functions_of(name):
    """(path, function): itself, a module's public ones, or a class's methods that Mirada wrote."""
    thing = public(name)
    if isinstance(thing, types.ModuleType):
        for function in getattr(thing, "__all__", ()):
            if isinstance(getattr(thing, function), types.FunctionType):
                yield f"{name}.{function}", getattr(thing, function)
        return
    if isinstance(thing, types.FunctionType):
        yield name, thing
        return
    for base in thing.__mro__:
        if not base.__module__.startswith("mirada"):
            continue
        for method, value in vars(base).items():
            function = getattr(value, "__func__", value)
            written = (
                isinstance(function, types.FunctionType)
                and function.__module__ == base.__module__
                and not method.startswith("_")
            )
            if written and getattr(base, method) == getattr(thing, method):
                yield f"{name}.{method}", function


FUNCTIONS = {path: function for name in NAMES for path, function in functions_of(name)}


def takes_tensors(function):
    return any("Tensor" in str(parameter.annotation) for parameter in signature(function).parameters.values())


def signature(thing):
    return inspect.signature(thing)


def bare(thing):
    """The signature without its annotations."""
    given = signature(thing)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in given.parameters.values()
    ]
    return str(given.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def test_every_name_of_the_design_is_public():
    assert set(NAMES) == {
        *("attention", "attention_weights", "Mask", "sinusoidal_positions", "LearnedPositions"),
        *("SinusoidalPositions", "RotaryPositions", "KVCache", "MultiHeadAttention", "TransformerBlock"),
        *("BlockConfig", "from_torch", "to_torch", "Scene", "Words"),
        *("watch", "record", "Gaze", "Look", "NothingSeen", "load_gaze", "edits", "compare", "figures"),
        *("Encoder", "EncoderConfig", "Decoder", "DecoderConfig", "EncoderDecoder", "EncoderDecoderConfig"),
        *("patches", "unpatch", "crop", "pad", "VisionTransformer", "VisionConfig", "from_vit"),
        *("num_parameters", "summary", "describe_cost", "generate", "stream"),
        *("train", "load_run", "Run", "Task", "Batch", "EncoderTask", "DecoderTask", "EncoderDecoderTask"),
        *("ImagesTask", "ImageFolder", "open_picture"),
        *("TrainingOptions", "TrainingError", "Listener"),
    }
    assert len(mirada.__all__) == len(set(mirada.__all__))
    assert set(mirada.__all__) <= set(dir(mirada))


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_and_says_what_it_is(name):
    thing = public(name)
    assert thing is public(name)  # the same each time it is asked for
    assert thing.__name__.rpartition(".")[2] == name
    assert getattr(thing, "__module__", thing.__name__).startswith("mirada.")
    first = (thing.__doc__ or "").strip().split("\n")[0]
    assert first
    assert not first.startswith(f"{name}(")  # which is what a dataclass says of itself


@pytest.mark.parametrize("path", FUNCTIONS)
def test_every_public_function_says_what_it_does_and_which_shapes_it_takes(path):
    function = FUNCTIONS[path]
    # What only says how one class does it has the docstring of the class that it builds on.
    said = inspect.getdoc(public(path)) or function.__doc__ or ""
    assert said or path.endswith(".extra_repr"), f"{path} has no docstring"
    if takes_tensors(function) and path != "Listener.on_step":  # a scalar
        signature_and_docstring = inspect.getsource(function).partition('"""')[0] + said
        assert SHAPE.search(signature_and_docstring), f"{path} takes tensors and names no shape"


def test_the_functions_that_take_tensors_are_found():
    found = {path for path, function in FUNCTIONS.items() if takes_tensors(function)}
    assert {"attention", "attention_weights", "MultiHeadAttention.forward", "KVCache.append"} <= found
    assert {"RotaryPositions.forward", "Mask.bias", "TransformerBlock.forward"} <= found


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures_are_those_of_the_design(path):
    assert bare(public(path)) == SIGNATURES[path]


def test_a_star_import_brings_all_of_them():
    names = {}
    exec("from mirada import *", names)
    assert {name for name in names if not name.startswith("__")} == set(NAMES)


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="module 'mirada' has no attribute 'atention'"):
        mirada.atention  # noqa: B018


def test_no_module_hides_behind_the_name_of_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(mirada.__path__)}
    assert not modules & set(mirada.__all__)
    for name in ("layers", "pretrained", "views", "watching"):
        assert importlib.import_module(f"mirada.{name}").__name__ == f"mirada.{name}"


def test_the_version_is_that_of_the_installed_package():
    assert mirada.__version__ == version("mirada")


def test_type_checkers_are_told_of_the_same_names_and_homes():
    tree = ast.parse(inspect.getsource(mirada))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == mirada._HOMES
