"""Where each figure of tests/facts.json is computed: the chapter, the figure, and what it is in that chapter.

`tolerance` is for what training measures, whose last digits move with the number of threads.
"""

from typing import NamedTuple


class Figure(NamedTuple):
    chapter: int
    path: str  # in facts.json, step by step
    expression: str
    tolerance: float = 0.0


FIGURES = [
    Figure(1, "activity/looks_of_banco/plata", "money.weights[bank, 3]"),
    Figure(1, "activity/looks_of_banco/banco", "money.weights[bank, bank]"),
    Figure(1, "activity/output_of_banco/first", "money.output[bank]"),
    Figure(1, "activity/output_of_banco/second", "seat.output[place]"),
    Figure(2, "by_hand/Q", "Q"),
    Figure(2, "by_hand/K", "K"),
    Figure(2, "by_hand/V", "V"),
    Figure(2, "by_hand/products_of_row_1", "products[0]"),
    Figure(2, "by_hand/scores_over_sqrt2", "scores"),
    Figure(2, "by_hand/weights", "weights"),
    Figure(2, "by_hand/output", "output"),
    Figure(2, "batched_shapes/q_k_v", "query.shape"),
    Figure(2, "batched_shapes/output", "output_of_many.shape"),
    Figure(2, "batched_shapes/weights", "weights_of_many.shape"),
    *(
        Figure(3, f"why_sqrt_d/rows/{row}/{name}", f"table[{d}][{place}]")
        for row, d in enumerate((2, 64, 512))
        for place, name in enumerate(("std", "std_scaled", "max_weight", "max_weight_scaled"))
    ),
    *(Figure(3, f"why_sqrt_d/rows/{row}/d", f"[*table][{row}]") for row in range(3)),
    Figure(3, "why_sqrt_d/softmax_jacobian_median_norm_at_512/raw", "raw"),
    Figure(3, "why_sqrt_d/softmax_jacobian_median_norm_at_512/scaled", "with_root"),
    Figure(3, "temperature/scores", "scores"),
    *(Figure(3, f"temperature/weights/{T}", f"by_temperature[{T}]") for T in ("0.25", "0.5", "1", "4")),
    Figure(4, "multi_head/input", "x.shape"),
    Figure(4, "multi_head/output", "output.shape"),
    Figure(4, "multi_head/weights", "weights.shape"),
    Figure(5, "causal/weights", "weights"),
    Figure(5, "causal/blocked", "blocked.int()"),
    Figure(6, "sinusoidal/shape", "table.shape"),
    Figure(6, "sinusoidal/first_rows_first_columns", "table[:3, :4]"),
    Figure(7, "layer_norm/input", "word"),
    Figure(7, "layer_norm/output", "normed"),
    Figure(7, "block/d_mlp", "block.d_mlp"),
    Figure(7, "block/parameters", "total"),
    Figure(7, "block/attention", "by_hand['attention']"),
    Figure(7, "block/mlp", "by_hand['mlp']"),
    Figure(7, "block/layer_norms", "by_hand['norms']"),
    Figure(7, "residual/with_12_blocks", "with_12", tolerance=0.03),
    Figure(7, "residual/without_residuals_12_blocks", "without_12", tolerance=0.03),
    Figure(7, "residual/without_residuals_4_blocks", "without_4", tolerance=0.03),
    Figure(9, "quadratic_cost_float32_per_head", "table"),
    Figure(10, "reverse_digits/first_input", "rows[0]"),
    Figure(10, "reverse_digits/first_target", "rows[0].flip(0)"),
    Figure(10, "reverse_digits/parameters", "mirada.num_parameters(model)"),
    Figure(10, "reverse_digits/epochs", "history", 0.003),
    Figure(10, "reverse_digits/first_validation/input", "validation[0]"),
    Figure(10, "reverse_digits/first_validation/prediction", "prediction"),
    Figure(10, "reverse_digits/without_positions", "blind_history", 0.003),
    Figure(10, "reverse_digits/ceilings/without_positions_digits", "ceiling"),
    Figure(10, "reverse_digits/ceilings/without_positions_lowest_loss", "lowest_loss"),
    Figure(10, "reverse_digits/ceilings/causal_mask_digits", "expected"),
    Figure(12, "patches/patch", "size"),
    Figure(12, "patches/grid", "[rows, columns]"),
    Figure(12, "patches/unfolded", "unfolded.shape"),
    Figure(12, "patches/sequence", "sentence.shape"),
    Figure(12, "patches/vit/d_model", "tokens.shape[-1]"),
    Figure(12, "patches/vit/tokens_with_cls", "tokens.shape"),
    Figure(12, "patches/vit/after_block", "seen.shape"),
    Figure(12, "patches/vit/cls", "summary.shape"),
]

# What is no figure of its own: a number in a recipe, or how a list is rounded.
NO_FIGURES = {
    "by_hand/decimals",
    "multi_head/d_model",
    "multi_head/num_heads",
    "block/d_model",
    "block/num_heads",
}
