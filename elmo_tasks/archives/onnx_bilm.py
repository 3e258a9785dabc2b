"""
Writes the computation of a biLM (Peters et al. 2018, sections 3.1 and 3.2) as ONNX. Tensors have
the time steps first, shape (length + 2, batch, dim), until the layers are concatenated.
"""

from typing import Any

import numpy
import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.projected_lstm import LstmStack
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.common.characters import word_char_ids
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN


class OnnxGraph:
    """
    Holds a computation in the text format of ONNX. The text has a line for each operator. The
    tensors and numbers that the lines name are held beside it.
    """

    def __init__(self) -> None:
        self.lines = ""
        self.tensors: dict[str, numpy.ndarray] = {}

    def add(self, lines: str, **values: Any) -> None:
        """Adds lines, and the tensors and numbers that the lines name."""
        self.lines += lines
        for name, value in values.items():
            tensor = torch.as_tensor(value).detach().cpu()
            tensor = tensor.float() if tensor.is_floating_point() else tensor
            self.tensors[name] = tensor.contiguous().numpy()


def add_bilm(graph: OnnxGraph, bilm: BiLm) -> None:
    """
    Adds the computation of `layers` from `char_ids`. Also adds `lengths` of shape (batch, 1) and
    `layer_mask` of shape (batch, 1, length, 1).
    """
    _sentences(graph, bilm.options.max_characters)
    _token_layer(graph, bilm.char_cnn)
    start = bilm.state.before(1, bilm.like)
    for d, name in enumerate(("forward", "backward")):
        _direction(graph, name, bilm.stacks[d], LstmState(start.h[:, d], start.c[:, d]))
    _layers(graph, bilm.num_layers)


def _sentences(graph: OnnxGraph, max_characters: int) -> None:
    """Puts each sentence between boundary tokens, and finds the distinct tokens."""
    begin, end = (word_char_ids(word, max_characters) for word in (BEGIN_TOKEN, END_TOKEN))
    graph.add(
        """
        largest_ids = ReduceMax<axes=[2], keepdims=0>(char_ids)
        mask = Greater(largest_ids, zero)
        counted = Cast<to=7>(mask)
        lengths = ReduceSum<axes=[1]>(counted)
        padded = Pad(char_ids, one_before_and_after)
        shape = Shape(padded)
        num_steps = Gather(shape, one)
        steps = Range(zero, num_steps, one)
        is_first = Equal(steps, zero)
        begin_mask = Unsqueeze<axes=[1]>(is_first)
        begun = Where(begin_mask, begin_ids, padded)
        end_steps = Add(lengths, one)
        is_last = Equal(steps, end_steps)
        end_mask = Unsqueeze<axes=[2]>(is_last)
        bounded = Where(end_mask, end_ids, begun)

        by_step = Transpose<perm=[1, 0, 2]>(bounded)
        flat = Reshape(by_step, as_rows)
        distinct, first_rows, rows, counts = Unique<axis=0>(flat)
        any_id = ReduceMax<axes=[2], keepdims=0>(by_step)
        shape_of_steps = Shape(any_id)
        forward = Reshape(rows, shape_of_steps)
        last_steps = Squeeze<axes=[1]>(end_steps)
        bounded_lengths = Add(last_steps, one)
        backward = ReverseSequence<batch_axis=1, time_axis=0>(forward, bounded_lengths)
        shape_of_start = Shape(lengths)
        """,
        zero=0,
        one=1,
        one_before_and_after=[0, 1, 0, 0, 1, 0],
        begin_ids=begin,
        end_ids=end,
        as_rows=[-1, max_characters],
    )


def _token_layer(graph: OnnxGraph, cnn: CharCnn) -> None:
    """
    Computes x^LM of the distinct tokens. All windows of a convolution after the end of the longest
    token are equal, so only one is computed. The ids 0 and `num_characters - 1` are padding.
    """
    graph.add(
        """
        ids_in_token = Mod(distinct, padding_id)
        are_in_token = Sign(ids_in_token)
        token_lengths = ReduceSum<axes=[1], keepdims=0>(are_in_token)
        longest = ReduceMax<axes=[0]>(token_lengths)
        with_window = Add(longest, widest)
        num_characters = Min(with_window, max_characters)
        used = Slice(distinct, from_first, num_characters, axis_of_characters)
        embedded = Gather(embedding, used)
        characters = Transpose<perm=[0, 2, 1]>(embedded)
        """,
        padding_id=cnn.num_characters - 1,
        widest=[max(convolution.kernel_size[0] for convolution in cnn.convolutions)],
        max_characters=[cnn.max_characters],
        from_first=[0],
        axis_of_characters=[1],
        embedding=cnn.embedding,
    )
    for k, convolution in enumerate(cnn.convolutions):
        weights = {f"filters_{k}": convolution.weight, f"filters_bias_{k}": convolution.bias}
        graph.add(
            f"""
        windows_{k} = Conv(characters, filters_{k}, filters_bias_{k})
        largest_{k} = ReduceMax<axes=[2], keepdims=0>(windows_{k})
        """,
            **weights,
        )
    activation = {torch.relu: "Relu", torch.tanh: "Tanh"}[cnn.activation]
    largest = ", ".join(f"largest_{k}" for k in range(len(cnn.convolutions)))
    graph.add(
        f"""
        responses = Concat<axis=1>({largest})
        x_0 = {activation}(responses)
        """
    )
    for k, highway in enumerate(cnn.highways._layers):
        weights = {f"highway_{k}": highway.weight, f"highway_bias_{k}": highway.bias}
        graph.add(
            f"""
        both_{k} = Gemm<transB=1>(x_{k}, highway_{k}, highway_bias_{k})
        transform_{k}, carry_{k} = Split<axis=1>(both_{k})
        new_{k} = Relu(transform_{k})
        gate_{k} = Sigmoid(carry_{k})
        difference_{k} = Sub(x_{k}, new_{k})
        carried_{k} = Mul(gate_{k}, difference_{k})
        x_{k + 1} = Add(new_{k}, carried_{k})
        """,
            **weights,
        )
    graph.add(
        f"""
        vectors = Gemm<transB=1>(x_{len(cnn.highways._layers)}, projection, projection_bias)
        forward_0 = Gather(vectors, forward)
        backward_0 = Gather(vectors, backward)
        """,
        projection=cnn.projection.weight,
        projection_bias=cnn.projection.bias,
    )


def _direction(graph: OnnxGraph, direction: str, stack: LstmStack, start: LstmState) -> None:
    """
    Adds the LSTMs of one direction. In the first LSTM, the input product is computed once for equal
    tokens.
    """
    below = "vectors"
    for j, lstm in enumerate(stack.layers, start=1):
        name = f"{direction}_{j}"
        c, p = lstm.cell_dim, lstm.projection_dim
        inputs = f"Gather({name}_sums, {direction})" if j == 1 else f"Identity({name}_sums)"
        skips = j > 1 and stack.skip_connections
        output = f"Add({name}_h, {below})" if skips else f"Identity({name}_h)"
        graph.add(
            f"""
        {name}_products = MatMul({below}, {name}_input_weight)
        {name}_sums = Add({name}_products, {name}_bias)
        {name}_inputs = {inputs}
        {name}_start_h = Expand({name}_start_of_h, shape_of_start)
        {name}_start_c = Expand({name}_start_of_c, shape_of_start)
        {name}_last_h, {name}_last_c, {name}_h = Scan<num_scan_inputs=1, body={name}_step
            (float[rows, {p}] h, float[rows, {c}] c, float[rows, {4 * c}] inputs)
            => (float[rows, {p}] next_h, float[rows, {c}] next_c, float[rows, {p}] output)
        {{
            fed_back = MatMul(h, {name}_recurrent_weight)
            sums = Add(inputs, fed_back)
            three, fourth = Split<axis=1, split=[{3 * c}, {c}]>(sums)
            gates = Sigmoid(three)
            input_gate, forget_gate, output_gate = Split<axis=1>(gates)
            candidate = Tanh(fourth)
            taken = Mul(input_gate, candidate)
            kept = Mul(forget_gate, c)
            memory = Add(taken, kept)
            next_c = Clip(memory, {name}_least_c, {name}_most_c)
            bounded_c = Tanh(next_c)
            shown = Mul(output_gate, bounded_c)
            projected = MatMul(shown, {name}_projection)
            next_h = Clip(projected, {name}_least_h, {name}_most_h)
            output = Identity(next_h)
        }}>({name}_start_h, {name}_start_c, {name}_inputs)
        {name} = {output}
        """,
            **{
                f"{name}_input_weight": lstm.input_weight.T,
                f"{name}_bias": lstm.bias,
                f"{name}_start_of_h": start.h[j - 1],
                f"{name}_start_of_c": start.c[j - 1],
                f"{name}_recurrent_weight": lstm.recurrent_weight.T,
                f"{name}_least_c": -float(lstm.cell_clip),
                f"{name}_most_c": float(lstm.cell_clip),
                f"{name}_projection": lstm.projection_weight.T,
                f"{name}_least_h": -float(lstm.projection_clip),
                f"{name}_most_h": float(lstm.projection_clip),
            },
        )
        below = name


def _layers(graph: OnnxGraph, num_layers: int) -> None:
    """Concatenates the two directions of each layer, and removes the boundary tokens."""
    for j in range(num_layers):
        graph.add(
            f"""
        turned_{j} = ReverseSequence<batch_axis=1, time_axis=0>(backward_{j}, bounded_lengths)
        layer_{j} = Concat<axis=2>(forward_{j}, turned_{j})
        stacked_{j} = Unsqueeze<axes=[1]>(layer_{j})
        """
        )
    stacked = ", ".join(f"stacked_{j}" for j in range(num_layers))
    # Shape of `by_layer`: (length + 2, num_layers, batch, 2 * projection_dim)
    graph.add(
        f"""
        by_layer = Concat<axis=1>({stacked})
        inside = Slice(by_layer, after_begin, before_end, axis_of_steps)
        by_sentence = Transpose<perm=[2, 1, 0, 3]>(inside)
        layer_mask = Unsqueeze<axes=[1, 3]>(mask)
        layers = Where(layer_mask, by_sentence, nothing)
        """,
        after_begin=[1],
        before_end=[-1],
        axis_of_steps=[0],
        nothing=0.0,
    )
