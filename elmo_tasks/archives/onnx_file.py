import os

from elmo_tasks.archives.onnx_bilm import OnnxGraph, add_bilm
from elmo_tasks.bilm import BiLm, FrozenBiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.elmo.mix import ElmoMix

# The name of the file, in a folder that the user chooses.
ONNX_FILE = "bilm.onnx"

# Every current onnxruntime reads these versions. In later operators, axes are not attributes.
_OPERATORS, _FORMAT = 12, 7


def write_onnx(path: str | os.PathLike, bilm: BiLm, mix: ElmoMix) -> None:
    """
    Writes a biLM and a mix as one ONNX file. onnxruntime runs the file without PyTorch. To write
    it, the package onnx is needed. The file has one input and two outputs:

    | name | shape | |
    | --- | --- | --- |
    | `char_ids` | (batch, length, 50) | as for `BiLm.forward`, of 64 bits; zeros at padding |
    | `layers` | (batch, num_layers + 1, length, 2 * projection_dim) | as from `BiLm.forward` |
    | `elmo` | (batch, length, width) | as from `ElmoEncoder`; zeros at padding |

    # Parameters

    path: The file, which appears whole or not at all.
    bilm: A biLM of characters. If the biLM carries its state, a frozen copy is written (see
        `FrozenBiLm.of`).
    mix: Computes `elmo`. A layer norm over the batch becomes a layer norm over each sentence.

    # Raises

    `ConfigurationError`: The biLM has a table of words.
    """
    if bilm.options.num_words:
        raise ConfigurationError(
            "this biLM has a table of words, and only a biLM of characters alone can be "
            "written as ONNX"
        )
    if bilm.state_name == "carry":
        # `ElmoEncoder` takes the same copy.
        bilm = FrozenBiLm.of(bilm)
    import onnx

    graph = OnnxGraph()
    add_bilm(graph, bilm)
    _add_elmo(graph, mix, bilm.get_output_dim())
    dim, max_characters = bilm.get_output_dim(), bilm.options.max_characters
    model = onnx.parser.parse_model(
        f"""<ir_version: {_FORMAT}, opset_import: ["": {_OPERATORS}], producer_name: "elmo_tasks">
        bilm (int64[batch, length, {max_characters}] char_ids) => (
            float[batch, {bilm.num_layers}, length, {dim}] layers,
            float[batch, length, {mix.get_output_dim(dim)}] elmo
        ) {{{graph.lines}}}"""
    )
    for name, values in graph.tensors.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.checker.check_model(model)
    write_whole(path, model.SerializeToString())


def _add_elmo(graph: OnnxGraph, mix: ElmoMix, width: int) -> None:
    """Computes equation (1)."""
    normalized = "layers"
    if mix.layer_norm is not None:
        normalized = "normalized"
        graph.add(
            """
        num_tokens = Cast<to=1>(lengths)
        num_features = Mul(num_tokens, width)
        at_least_one = Max(num_features, one_feature)
        count = Unsqueeze<axes=[2, 3]>(at_least_one)
        sums_of_features = ReduceSum<axes=[2, 3]>(layers)
        means = Div(sums_of_features, count)
        differences = Sub(layers, means)
        centered = Where(layer_mask, differences, nothing)
        squares = Mul(centered, centered)
        sums_of_squares = ReduceSum<axes=[2, 3]>(squares)
        variances = Div(sums_of_squares, count)
        above_zero = Add(variances, epsilon)
        deviations = Sqrt(above_zero)
        normalized = Div(centered, deviations)
        """,
            width=float(width),
            one_feature=1.0,
            epsilon=1e-12,
        )
    graph.add(
        f"""
        weighted = Mul({normalized}, weights)
        """,
        weights=(mix.gamma * mix.weights)[:, None, None],
    )
    if mix.layers == "concat":
        graph.add(
            """
        by_token = Transpose<perm=[0, 2, 1, 3]>(weighted)
        elmo = Reshape(by_token, side_by_side)
        """,
            side_by_side=[0, 0, mix.num_layers * width],
        )
    else:
        graph.add(
            """
        elmo = ReduceSum<axes=[1], keepdims=0>(weighted)
        """
        )
