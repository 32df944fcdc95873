"""Small models that call attention as well-known ones do."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from watched import close, seen


class AsInTimm(nn.Module):
    """timm's Attention: one projection, normed queries and keys, a fused kernel where it is allowed."""

    def __init__(self, dim=12, num_heads=3, fused_attn=True):
        super().__init__()
        self.num_heads, self.scale, self.fused_attn = num_heads, (dim // num_heads) ** -0.5, fused_attn
        self.qkv = nn.Linear(dim, 3 * dim)
        self.q_norm, self.k_norm = nn.LayerNorm(dim // num_heads), nn.LayerNorm(dim // num_heads)
        self.attn_drop, self.proj = nn.Dropout(0.1), nn.Linear(dim, dim)

    def heads(self, x: Tensor):
        batch, length, dim = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.num_heads, dim // self.num_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        return self.q_norm(q), self.k_norm(k), v

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        if self.fused_attn:
            p = self.attn_drop.p if self.training else 0.0
            x = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=p)
        else:
            attn = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
            x = self.attn_drop(attn) @ v
        return self.proj(x.transpose(1, 2).flatten(2))


class EncoderBlock(nn.Module):
    """torchvision's ViT: nn.MultiheadAttention, asked for no weights."""

    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(12)
        self.self_attention = nn.MultiheadAttention(12, 3, dropout=0.1, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.ln_1(x)
        return x + self.self_attention(y, y, y, need_weights=False)[0]


class ViT(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.conv_proj = nn.Conv2d(3, 12, 2, 2)
        self.class_token = nn.Parameter(torch.randn(1, 1, 12))
        self.pos_embed = nn.Parameter(torch.randn(1, 7, 12))
        self.blocks = nn.Sequential(block(), block())
        self.head = nn.Linear(12, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = self.conv_proj(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        return self.head(self.blocks(x)[:, 0])


class WindowAttention(nn.Module):
    """SwinV1's: each window of the image is a sample of its own, with a bias for relative places."""

    def __init__(self, window=3, dim=12, num_heads=2):
        super().__init__()
        self.window, self.num_heads = window, num_heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.bias = nn.Parameter(torch.randn(num_heads, window**2, window**2))

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, dim = x.shape
        x = x.unflatten(1, (-1, self.window)).unflatten(3, (-1, self.window)).transpose(2, 3)
        q, k, v = self.qkv(x.reshape(-1, self.window**2, dim)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[None])
        mixed = mixed.transpose(1, 2).reshape(batch, height // self.window, -1, self.window, self.window, dim)
        return mixed.transpose(2, 3).reshape(batch, height, width, dim)


# transformers#30978; bertviz#94, #118, #135: a ViT as it is by default, every layer.
def test_a_vision_transformer_as_in_timm():
    for training in (True, False):
        model = ViT(AsInTimm).train(training)
        gaze = seen(model, torch.randn(2, 3, 4, 6))
        assert [look.path for look in gaze] == ["blocks.0", "blocks.1"]
        assert {(look.rows, look.keys, look.kind) for look in gaze} == {(7, 7, "self")}
        assert gaze.proved
        close(gaze[1].weights().sum(-1), torch.ones(2, 3, 7))


def test_the_fused_and_the_written_out_path_say_the_same():
    module, x = AsInTimm().eval(), torch.randn(2, 7, 12)
    fused = seen(module, x)
    module.fused_attn = False
    by_hand = seen(module, x)
    assert by_hand.proved
    close(by_hand[0].weights(), fused[0].weights())
    q, k, _ = module.heads(x)
    close(fused[0].weights(), ((q * module.scale) @ k.mT).softmax(-1).detach())


def test_a_vision_transformer_as_in_torchvision():
    for training in (True, False):
        model = ViT(EncoderBlock).train(training)
        with torch.set_grad_enabled(training):
            gaze = seen(model, torch.randn(2, 3, 4, 6))
        assert [look.path for look in gaze] == ["blocks.0.self_attention", "blocks.1.self_attention"]
        assert gaze.proved


# Swin#168, NAT#77: windows are not forced into one table of all places.
def test_windows_are_said_and_shown_as_windows():
    model = WindowAttention()
    gaze = seen(model, torch.randn(2, 6, 9, 12))
    (look,) = gaze
    assert (look.batch, look.rows, look.keys) == (2 * 2 * 3, 9, 9)
    assert "12 windows" in repr(gaze)
    assert "12 windows" in repr(look)
    assert gaze.proved
    close(look.weights().sum(-1), torch.ones(12, 2, 9))
    assert repr(look.calls[0].mask) == "Mask.bias(<1 × 2 × 9 × 9>)"


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(12, 12, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.rnn(x)[0]


# lm-polygraph#463: fewer attention layers than layers; each look names its own.
def test_a_hybrid_with_few_attention_layers():
    layers = [Recurrent(), Recurrent(), AsInTimm(), Recurrent(), AsInTimm(dim=12, num_heads=2)]
    gaze = seen(nn.Sequential(*layers).eval(), torch.randn(2, 7, 12))
    assert [(look.path, len(look.heads)) for look in gaze] == [("2", 3), ("4", 2)]
    assert gaze["4"] is gaze[1]
    assert gaze.proved
