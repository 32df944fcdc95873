"""Small models of each family, in float64, and what they are given."""

from dataclasses import dataclass, replace

import torch

from mirada import BlockConfig, Mask
from mirada.models.config import DecoderConfig, EncoderConfig, EncoderDecoderConfig
from mirada.models.decoder import Decoder
from mirada.models.encoder import Encoder
from mirada.models.encoder_decoder import EncoderDecoder

# All sizes differ, so that no two axes can be mistaken for each other (LLMs-from-scratch#857).
BATCH, LENGTH, SOURCE, VOCABULARY, SOURCE_VOCABULARY, OUTPUTS = 3, 5, 7, 11, 13, 17
EXACT = {"rtol": 1e-11, "atol": 1e-12}
FAMILIES = ("encoder", "decoder", "encoder_decoder")
POSITIONS = ("learned", "sinusoidal", "rotary", "none")
SIZES = {"d_model": 12, "num_heads": 2, "num_blocks": 2, "d_mlp": 23}
KINDS = {
    "learned": {},
    "sinusoidal, post-norm": {"positions": "sinusoidal", "block": BlockConfig(norm_first=False)},
    "rotary, grouped, gated": {
        "positions": "rotary",
        "block": BlockConfig(norm="rms", activation="swiglu", bias=False, num_kv_heads=1, head_dim=10),
    },
    "tied": {"tied": True},
}


def model_of(family, *, seed=3, dtype=torch.float64, **options):
    torch.manual_seed(seed)
    options = {**SIZES, **options}
    if family == "encoder_decoder":
        lengths = {"source_length": SOURCE, "target_length": LENGTH}
        vocabularies = {"source_vocabulary": SOURCE_VOCABULARY, "target_vocabulary": VOCABULARY}
        return EncoderDecoder(EncoderDecoderConfig(**{**lengths, **vocabularies, **options})).to(dtype)
    options = {"vocabulary": VOCABULARY, "max_length": LENGTH, **options}
    if family == "decoder":
        return Decoder(DecoderConfig(**options)).to(dtype)
    return Encoder(EncoderConfig(**options)).to(dtype)


def tokens(length=LENGTH, vocabulary=VOCABULARY, batch=BATCH):
    return torch.randint(vocabulary, (batch, length))


@dataclass
class Run:
    """A model and one batch for it: run() gives the logits."""

    family: str
    model: torch.nn.Module
    source: torch.Tensor | None
    target: torch.Tensor
    source_lengths: torch.Tensor | None = None
    target_lengths: torch.Tensor | None = None

    def __call__(self, **changes):
        now = replace(self, **changes)
        given = [x for x in (now.source, now.target) if x is not None]
        masks = [None if n is None else Mask.padding(n) for n in (now.source_lengths, now.target_lengths)]
        return now.model(*given, *(masks if now.family == "encoder_decoder" else masks[1:]))

    def of(self, samples):
        """What changes if the batch consists of these samples."""
        source = None if self.source is None else self.source[samples]
        return {"source": source, "target": self.target[samples]}


def run_of(family, kind="learned", **options):
    model = model_of(family, **{**KINDS[kind], **options})
    source = tokens(SOURCE, SOURCE_VOCABULARY) if family == "encoder_decoder" else None
    return Run(family, model, source, tokens())
