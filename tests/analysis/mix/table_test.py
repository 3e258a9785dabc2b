from elmo_tasks.analysis.mix.placed_mix import PlacedMix
from elmo_tasks.analysis.mix.table import mix_table


def test_a_mix_of_fewer_layers_leaves_cells_empty() -> None:
    mixes = [
        PlacedMix("sst", "input", [0.2, 0.3, 0.5], 2.0),
        PlacedMix("own", "output", [0.75, 0.25], 1.0),
    ]

    lines = mix_table(mixes).splitlines()

    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:4]]
    assert rows == [
        ["sst", "input", "0.200", "0.300", "0.500", "2.000", "0.400", "0.600", "1.000"],
        ["own", "output", "0.750", "0.250", "", "1.000", "0.750", "0.250", ""],
    ]
    assert (
        lines[-1]
        == "s0 is the weight of tokens, s1 is the weight of LSTM 1, s2 is the weight of LSTM 2."
    )
