"""Arguments that single families need beyond those that every model with such a name gets."""

from typing import Any

import torch
from breadth.makers import BATCH, DECODED, LENGTH


def ones(*shape: int):
    return lambda s: torch.ones(shape, dtype=torch.long)


def zeros(*shape: int):
    return lambda s: torch.zeros(shape, dtype=torch.long)


def normal(*shape: int):
    return lambda s: s.normal(*shape)


def integers(low: int, high: int, *shape: int):
    return lambda s: s.integers(low, high, *shape)


def flattened(s):
    """(batch, patches, 2 + numbers): the place of a patch in rows and columns, then the patch."""
    places = torch.cartesian_prod(torch.arange(1.0, 5), torch.arange(1.0, 5)).expand(BATCH, 16, 2)
    return torch.cat([places, s.normal(BATCH, 16, s.vision("patch_embed_hidden_size", default=768))], -1)


def shared_keys(s):
    """What these models read of the larger one that they assist: keys and values of its last layers."""
    widths = {"full_attention": 512, "sliding_attention": 16}
    return {
        kind: (s.normal(BATCH, 2, LENGTH, d), s.normal(BATCH, 2, LENGTH, d)) for kind, d in widths.items()
    }


# By family. A value, a function of the Sizes, or None: leave this argument out.
INPUTS: dict[str, dict[str, Any]] = {
    "blt": {"use_cache": False},
    "clap": {"input_features": normal(BATCH, 1, 1001, 64), "is_longer": lambda s: torch.zeros(BATCH, 1) > 0},
    "decision_transformer": {"states": normal(BATCH, LENGTH, 17), "actions": normal(BATCH, LENGTH, 4),
        "rewards": normal(BATCH, LENGTH, 1), "returns_to_go": normal(BATCH, LENGTH, 1), "timesteps":
        integers(0, 40, BATCH, LENGTH), "attention_mask": ones(BATCH, LENGTH)},
    "deepseek_vl_hybrid": {"high_res_pixel_values": normal(BATCH, 3, 32, 32)},
    "depth_pro": {"pixel_values": normal(1, 3, 128, 128)},
    "efficientloftr": {"pixel_values": normal(BATCH, 2, 3, 32, 32)},
    "gemma4_assistant": {"input_ids": None, "attention_mask": None, "inputs_embeds": normal(BATCH, 1, 128),
        "shared_kv_states": shared_keys},
    "gemma4_unified_assistant": {"input_ids": None, "attention_mask": None, "inputs_embeds": normal(BATCH, 1,
        128), "shared_kv_states": shared_keys},
    "granite_speech": {"input_features_mask": None},
    "granite_speech5": {"input_features": normal(BATCH, 128, 64)},
    "granite_speech_plus": {"input_features_mask": None},
    "idefics": {"image_attention_mask": ones(BATCH, LENGTH, 1), "pixel_values": normal(BATCH, 1, 3, 32, 32)},
    "instructblip": {"qformer_input_ids": integers(5, 60, BATCH, 7), "qformer_attention_mask": ones(BATCH,
        7)},
    "instructblipvideo": {"qformer_input_ids": integers(5, 60, BATCH, 7), "qformer_attention_mask":
        ones(BATCH, 7)},
    "jev": {"input_ids": integers(5, 60, 1, LENGTH), "attention_mask": None, "marks": lambda s:
        torch.tensor([[3, 5]]), "num_options": lambda s: torch.tensor([[2, 2]]), "question_type_ids": lambda
        s: torch.tensor([[0, 0]])},
    "kosmos2": {"image_embeds_position_mask": lambda s: (torch.arange(LENGTH + 64) < 64).repeat(BATCH, 1),
        "input_ids": integers(5, 60, BATCH, LENGTH + 64), "attention_mask": ones(BATCH, LENGTH + 64)},
    "kosmos2_5": {"flattened_patches": flattened},
    "kyutai_speech_to_text": {"input_ids": integers(5, 60, BATCH, LENGTH, 4), "attention_mask": ones(BATCH,
        LENGTH)},
    "llava": {"image_sizes": None},
    "lxmert": {"visual_feats": normal(BATCH, 5, 2048), "visual_pos": normal(BATCH, 5, 4)},
    "mllama": {"pixel_values": normal(BATCH, 1, 4, 3, 32, 32), "aspect_ratio_ids": ones(BATCH, 1),
        "aspect_ratio_mask": ones(BATCH, 1, 4), "cross_attention_mask": ones(BATCH, LENGTH, 1, 4)},
    "mobilevitv2": {"pixel_values": normal(BATCH, 3, 64, 64)},
    "muse_glimmer": {"pixel_values": normal(32, 384)},
    "muse_glimmer_assistant": {"noise_embeds": normal(BATCH, 5, 64), "context_hidden_states": normal(BATCH, 9,
        320)},
    "musicgen": {"decoder_input_ids": integers(5, 60, 8, DECODED)},
    "musicgen_melody": {"decoder_input_ids": integers(5, 60, 8, DECODED), "input_features": normal(BATCH, 9,
        12)},
    "neomme": {"pixel_values": None},
    "omdet_turbo": {"classes_input_ids": integers(5, 60, 6, 5), "classes_attention_mask": ones(6, 5),
        "tasks_input_ids": integers(5, 60, BATCH, 5), "tasks_attention_mask": ones(BATCH, 5),
        "classes_structure": lambda s: torch.tensor([3, 3])},
    "oneformer": {"task_inputs": integers(5, 60, BATCH, 77)},
    "perceiver": {"inputs": normal(BATCH, LENGTH, 64)},
    "pi0": {"action_embeds": normal(BATCH, 5, 64), "pixel_values": normal(BATCH, 1, 3, 32, 32),
        "pixel_attention_mask": lambda s: torch.ones(BATCH, 1) > 0},
    "pix2struct": {"flattened_patches": flattened, "attention_mask": ones(BATCH, 16), "decoder_input_ids":
        integers(5, 60, BATCH, DECODED)},
    "pp_ocrv5_mobile_rec": {"pixel_values": normal(BATCH, 3, 96, 320)},
    "pp_ocrv5_server_rec": {"pixel_values": normal(BATCH, 3, 48, 320)},
    "pp_ocrv6_small_rec": {"pixel_values": normal(BATCH, 3, 48, 320)},
    "pp_ocrv6_tiny_rec": {"pixel_values": normal(BATCH, 3, 48, 320)},
    "rag": {"context_input_ids": integers(5, 60, 10, 9), "context_attention_mask": ones(10, 9), "doc_scores":
        normal(BATCH, 5), "n_docs": 5},
    "sam2": {"pixel_values": normal(BATCH, 3, 64, 64)},
    "seggpt": {"pixel_values": normal(BATCH, 3, 32, 32), "prompt_pixel_values": normal(BATCH, 3, 32, 32),
        "prompt_masks": normal(BATCH, 3, 32, 32)},
    "speecht5": {"input_values": normal(BATCH, LENGTH, 64), "decoder_input_values": normal(BATCH, DECODED,
        64)},
    "superglue": {"pixel_values": normal(BATCH, 2, 3, 32, 32)},
    "tvp": {"pixel_values": normal(BATCH, 2, 3, 128, 128)},
    "video_llama_3": {"image_merge_sizes": ones(BATCH)},
    "vipllava": {"image_sizes": None},
    "vitmatte": {"pixel_values": normal(BATCH, 4, 32, 32)},
}  # fmt: skip
