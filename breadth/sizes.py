"""Small sizes, by the name of a configuration's field."""

from typing import Any

WIDTH, HEADS, HEAD_DIM, MLP, LAYERS = 64, 4, 16, 96, 2


def layers(value: Any) -> Any:
    """A count of layers, or one count for each stage."""
    if isinstance(value, list | tuple):
        return type(value)(min(entry, 1) for entry in value) if not _nested(value) else value
    return min(value, LAYERS)


def heads(value: Any) -> Any:
    """Stages of growing width get growing heads."""
    if isinstance(value, list | tuple):
        return type(value)(min(entry, (1, 2, 2, 4, 4, 4, 4, 4)[i]) for i, entry in enumerate(value))
    return min(value, HEADS)


def widths(value: Any) -> Any:
    """A width; stages keep growing: 16, 32, 64, 64 …"""
    if isinstance(value, list | tuple) and not _nested(value):
        return type(value)(
            (16, 32, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64)[min(i, 11)] for i in range(len(value))
        )
    return min(value, WIDTH) if isinstance(value, int) else value


def _nested(value: Any) -> bool:
    return any(isinstance(entry, list | tuple) for entry in value)


RULES: list[tuple[str, Any]] = [
    (r".*vocab_size(_per_layer_input)?|n_vocab|vocabulary_size", 99),
    (r"type_vocab_size|codebook_size", lambda v: min(v, 32)),
    (
        r"(num_|n_)?(text_|vision_|audio_|encoder_|decoder_|hidden_|transformer_|block_)*(layers|layer|depth)"
        r"|num_(encoder|decoder|hidden)_layers|num_hidden_blocks|depths?|num_layers_\w+|encoder_depth|decoder_depth",
        layers,
    ),
    (
        r"(num_|n_)?(text_|vision_|audio_|encoder_|decoder_|cross_|self_)*(attention_|attn_)?heads?"
        r"|num_attention_heads_\w+",
        heads,
    ),
    (r".*(num_key_value_heads|num_kv_heads|n_head_kv|num_key_value_groups)", 2),
    (
        r"head_dim|global_head_dim|attention_head_dim|v_head_dim|qk_nope_head_dim|qk_head_dim|d_kv|kv_channels",
        HEAD_DIM,
    ),
    (r"qk_rope_head_dim", 8),
    (r"kv_lora_rank|q_lora_rank|o_lora_rank", 16),
    (r"index_head_dim|linear_(key|value)_head_dim", 16),
    (r"index_n_heads|linear_num_value_heads", 4),
    (r"linear_num_key_heads", 2),
    (r".*(intermediate_size|ffn_dim|ffn_hidden_size|feedforward_dim|mlp_dim|n_inner|d_ff|d_inner)", MLP),
    (
        r"(\w+_)?(hidden_size|hidden_dim|d_model|n_embd|embed_dim|embedding_dim|embedding_size|projection_dim"
        r"|projection_size|hidden_channels|proj_dim|d_embed|embed_proj_dim|output_dim|model_dim)s?"
        r"|hidden_sizes|hidden_size_global|embed_dims|dims?|neck_hidden_sizes|out_hidden_size|encoder_hidden_dim|emb_dim",
        widths,
    ),
    (r"num_experts_per_tok|moe_topk|top_k_experts|moe_top_k|num_selected_experts|moe_k", 2),
    (r"num_experts|num_local_experts|n_routed_experts|moe_num_experts|num_routed_experts", 4),
    (r"n_group|topk_group|num_expert_group", 1),
    (r"max_position_embeddings|n_positions|max_(source|target)_positions|n_ctx|max_sequence_length", 128),
    (r"image_size|img_size|input_image_size|pretrain_image_size", 32),
    (r"patch_size", 8),
    (r"num_position_embeddings", 16),
    (r"num_queries|num_denoising|num_object_queries", 7),
    (r"num_mel_bins|feature_size|n_mels", 16),
    (r"num_frames", 2),
    (r"global_attn_indexes", lambda v: [1]),
    (r"decoder_in_channels|output_channels", WIDTH),
    (r"rotary_dim", 8),
    (r"num_groups", 4),
    (r"encoder_hash_byte_group_vocab", 97),
    (r"lags_sequence", lambda v: [1, 2, 3]),
    (r".*mamba_(n_heads|num_heads)", 8),
    (r"mamba_(d_head|head_dim)", 16),
    (r"(ssm_)?(mamba_)?(state_size|d_state)", 8),
]
