"""The encoder: every place looks at every place, and each gives an answer."""

from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.models.config import EncoderConfig
from mirada.models.parts import Stack, TokenEmbedding


class Encoder(nn.Module):
    """Tokens to logits, place by place: (batch, length) to (batch, length, outputs).

    Devlin et al., "BERT", 2018, with blocks that normalise first unless the config says otherwise.

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.config = config
        # The order in which the parameters draw their first values: the lesson's figures depend on it.
        self.embedding = TokenEmbedding(config.vocabulary, config.max_length, config)
        self.stack = Stack(config)
        self.output_proj = None if config.tied else nn.Linear(config.d_model, config.num_outputs)

    def forward(self, tokens: Tensor, mask: Mask | None = None) -> Tensor:
        """tokens (batch, length) to logits (batch, length, outputs).

        mask: who may look at whom, such as Mask.padding(lengths). Raises what TokenEmbedding raises.
        """
        x = self.stack(self.embedding(tokens), mask=mask)
        return self.embedding.logits(x) if self.output_proj is None else self.output_proj(x)
