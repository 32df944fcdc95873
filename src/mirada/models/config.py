"""What a model is made of, in a few numbers: frozen, checked, and readable back from JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

from mirada.layers.block import BlockConfig
from mirada.layers.patches import grid_for

Pooling = Literal["cls", "mean"]
Positions = Literal["learned", "sinusoidal", "rotary", "none"]


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """What the families have in common.

    Args:
        d_model: width of each place, from the embedding to the output.
        num_heads: heads of each attention.
        num_blocks: blocks one above the other; of an encoder-decoder, on each side.
        d_mlp: width inside the MLPs; 4 · d_model unless given.
        positions: how a place is known: "learned" and "sinusoidal" add a vector to the token's, "rotary"
            turns queries and keys in each block, "none" leaves a bag of words.
        tied: read the logits with the vectors of the token embedding, and learn no output layer.
        block: the rest of each block. Its rotary, cross_attention and d_context are the model's to set.

    Raises:
        ValueError: a size that is no whole number of at least 1, or what these do not allow.
    """

    d_model: int = 32
    num_heads: int = 2
    num_blocks: int = 1
    d_mlp: int | None = None
    positions: Positions = "learned"
    tied: bool = False
    block: BlockConfig = field(default_factory=BlockConfig)

    def __post_init__(self):
        if not isinstance(self.block, BlockConfig):
            raise ValueError(f"block must be a BlockConfig, but is {self.block!r}")
        for name, size in vars(self).items():
            if name in ("positions", "tied", "block", "image_size", "pooling"):
                continue
            if size is None and name in ("d_mlp", "outputs"):
                continue
            if type(size) is not int or size < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, but is {size!r}")
        if self.positions not in get_args(Positions):
            allowed = ", ".join(get_args(Positions))
            raise ValueError(f"positions must be one of {allowed}, but is {self.positions!r}")
        for name in ("rotary", "cross_attention", "d_context"):
            if getattr(self.block, name):
                raise ValueError(
                    f'leave block.{name} out: the model sets it (positions="rotary", its family)'
                )

    @property
    def mlp_width(self) -> int:
        return 4 * self.d_model if self.d_mlp is None else self.d_mlp

    def to_dict(self) -> dict[str, Any]:
        """Numbers, texts and one dict inside, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The config that `to_dict` told of. TypeError for a name that it does not have."""
        return cls(**{**values, "block": BlockConfig(**values.get("block", {}))})


@dataclass(frozen=True, kw_only=True)
class _OneSequence(StackConfig):
    vocabulary: int
    outputs: int | None = None
    max_length: int

    def __post_init__(self):
        super().__post_init__()
        if self.tied and self.num_outputs != self.vocabulary:
            raise ValueError(
                f"tied needs as many outputs as tokens, but outputs={self.outputs} and "
                f"vocabulary={self.vocabulary}"
            )

    @property
    def num_outputs(self) -> int:
        return self.vocabulary if self.outputs is None else self.outputs


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(_OneSequence):
    """Of an `Encoder`. What stands in StackConfig, and:

    Args:
        vocabulary: how many tokens there are, 0 to vocabulary - 1.
        outputs: how many logits each place gives; as many as the vocabulary unless given.
        max_length: places of the learned table. The other positions take any length.
    """


@dataclass(frozen=True, kw_only=True)
class DecoderConfig(_OneSequence):
    """Of a `Decoder`: the same fields as EncoderConfig."""


@dataclass(frozen=True, kw_only=True)
class EncoderDecoderConfig(StackConfig):
    """Of an `EncoderDecoder`. What stands in StackConfig, and:

    Args:
        source_vocabulary, target_vocabulary: how many tokens there are on each side.
        source_length, target_length: places of the two learned tables.
    """

    source_vocabulary: int
    target_vocabulary: int
    source_length: int
    target_length: int


@dataclass(frozen=True, kw_only=True)
class VisionConfig(StackConfig):
    """Of a `VisionTransformer`. What stands in StackConfig, and:

    Args:
        image_size: height and width in pixels, for which positions are learned; others are resampled.
        patch_size: height and width of a patch; it divides both sides of the picture.
        channels: numbers of a pixel: 3 in colour, 1 in grey.
        outputs: how many logits a picture gives.
        pooling: where the answer is read: "cls", a token of its own before the patches, or "mean", the mean
            of all patches.

    Its positions are "learned" or "none", and it cannot be tied: there is no vocabulary to read with.
    """

    image_size: tuple[int, int]
    patch_size: int
    channels: int = 3
    outputs: int
    pooling: Pooling = "cls"

    def __post_init__(self):
        sides = tuple(self.image_size) if isinstance(self.image_size, list) else self.image_size  # from JSON
        if (
            not isinstance(sides, tuple)
            or len(sides) != 2
            or any(type(side) is not int or side < 1 for side in sides)
        ):
            raise ValueError(
                f"image_size must be (height, width), two whole numbers of at least 1, but is {sides!r}"
            )
        object.__setattr__(self, "image_size", sides)
        super().__post_init__()
        if self.outputs is None:
            raise ValueError("outputs must be a whole number of at least 1, but is None")
        if self.positions not in ("learned", "none"):
            raise ValueError(f'positions of a picture are "learned" or "none", but are {self.positions!r}')
        if self.tied:
            raise ValueError("tied reads with the vectors of a vocabulary, and pictures have none")
        if self.pooling not in get_args(Pooling):
            allowed = ", ".join(get_args(Pooling))
            raise ValueError(f"pooling must be one of {allowed}, but is {self.pooling!r}")
        grid_for(*self.image_size, self.patch_size)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return grid_for(*self.image_size, self.patch_size)

    @property
    def num_patches(self) -> int:
        rows, columns = self.grid
        return rows * columns

    @property
    def length(self) -> int:
        """Patches, and [CLS] where there is one."""
        return self.num_patches + (self.pooling == "cls")
