"""The decoder: every place looks at itself and those before it, and says what comes next."""

from torch import Tensor, nn

from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask
from mirada.models.config import DecoderConfig
from mirada.models.parts import Stack, TokenEmbedding, causal, following


class Decoder(nn.Module):
    """Tokens to the logits of the next ones: (batch, length) to (batch, length, outputs).

    The encoder under a causal mask, which is always on: Radford et al., "GPT-2", 2019.

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.config = config
        # The order in which the parameters draw their first values.
        self.embedding = TokenEmbedding(config.vocabulary, config.max_length, config)
        self.stack = Stack(config)
        self.output_proj = None if config.tied else nn.Linear(config.d_model, config.num_outputs)

    def forward(
        self,
        tokens: Tensor,
        mask: Mask | None = None,
        *,
        caches: list[KVCache] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """tokens (batch, length) to logits (batch, length, outputs).

        Args:
            mask: what else hides keys, such as Mask.padding(lengths, side="left").
            caches: one for each block; they hold the places before these.
            positions: (length,) or (batch, length); they count on from the caches unless given.

        Raises:
            ValueError, TypeError: as TokenEmbedding, and for caches that do not fit.
        """
        if positions is None:
            positions = following(tokens, caches)
        x, mask = self.embedding(tokens, positions), causal(tokens, mask, caches)
        x = self.stack(x, mask=mask, caches=caches, positions=positions)
        return self.embedding.logits(x) if self.output_proj is None else self.output_proj(x)
