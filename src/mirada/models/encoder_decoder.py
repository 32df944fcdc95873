"""The encoder-decoder: one side reads the source, the other writes the target and looks at what was read."""

from torch import Tensor, nn

from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask, check_mask
from mirada.models.config import EncoderDecoderConfig
from mirada.models.parts import Stack, TokenEmbedding, causal, following


class EncoderDecoder(nn.Module):
    """Source and target to the logits of the target's next tokens: (batch, target length, target_vocabulary).

    Vaswani et al., "Attention Is All You Need", 2017. A tied model reads its logits with the target's
    embedding; the source keeps one of its own.

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(self, config: EncoderDecoderConfig):
        super().__init__()
        self.config = config
        # The order in which the parameters draw their first values.
        self.source_embedding = TokenEmbedding(config.source_vocabulary, config.source_length, config)
        self.encoder = Stack(config)
        self.target_embedding = TokenEmbedding(config.target_vocabulary, config.target_length, config)
        self.decoder = Stack(config, cross_attention=True)
        self.output_proj = None if config.tied else nn.Linear(config.d_model, config.target_vocabulary)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        source_mask: Mask | None = None,
        target_mask: Mask | None = None,
    ) -> Tensor:
        """source (batch, source length), target (batch, length) to logits (batch, length, target_vocabulary).

        Args:
            source_mask: which places of the source there are, such as Mask.padding(lengths): for both sides.
            target_mask: what hides places of the target besides the causal mask.

        Raises:
            ValueError, TypeError: as TokenEmbedding; a source_mask that does more than hide keys.
        """
        if source_mask is not None and not check_mask(source_mask).hides_keys(4):
            raise ValueError(
                f"source_mask is {source_mask}, which says more than who is there, so it cannot serve both "
                "sides: call encode and decode, each with its own"
            )
        return self.decode(target, self.encode(source, source_mask), source_mask, target_mask)

    def encode(self, source: Tensor, source_mask: Mask | None = None) -> Tensor:
        """source (batch, source length) to the context, (batch, source length, d_model)."""
        return self.encoder(self.source_embedding(source), mask=source_mask)

    def decode(
        self,
        target: Tensor,
        context: Tensor,
        context_mask: Mask | None = None,
        target_mask: Mask | None = None,
        *,
        caches: list[KVCache] | None = None,
        context_caches: list[KVCache] | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """target (batch, length), context (batch, keys, d_model) to (batch, length, target_vocabulary).

        Args:
            context_mask: who in the target may look at whom in the context.
            context_caches: one for each block: the context is read at the first call only.
            target_mask, caches, positions: as in Decoder.
        """
        if positions is None:
            positions = following(target, caches)
        x, mask = self.target_embedding(target, positions), causal(target, target_mask, caches)
        kept = {"caches": caches, "context_caches": context_caches}
        x = self.decoder(x, context, mask, context_mask, **kept, positions=positions)
        return self.target_embedding.logits(x) if self.output_proj is None else self.output_proj(x)
