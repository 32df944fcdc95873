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
]

# What no chapter computes yet.
NOT_YET = {
    "multi_head",
    "causal",
    "sinusoidal",
    "layer_norm",
    "block",
    "quadratic_cost_float32_per_head",
    "reverse_digits",
    "patches",
    "residual",
}
# What is no figure of its own: a number in a recipe, or how a list is rounded.
NO_FIGURES = {
    "by_hand/decimals",
    "multi_head/d_model",
    "multi_head/num_heads",
    "block/d_model",
    "block/num_heads",
}
