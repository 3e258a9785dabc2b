import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common import distinct_rows as distinct
from elmo_tasks.common.distinct_rows import distinct_rows

rows = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), max_size=12)


@pytest.mark.parametrize("all_hashes_collide", [False, True])
@given(rows=rows)
def test_each_distinct_row_comes_once_and_each_token_knows_its_row(
    all_hashes_collide: bool, rows: list[list[int]]
) -> None:
    char_ids = torch.tensor(rows, dtype=torch.long).reshape(-1, 3)

    with pytest.MonkeyPatch.context() as patch:
        if all_hashes_collide:
            patch.setattr(distinct, "_factors", lambda char_ids: torch.zeros(3, dtype=torch.long))
        found, index = distinct_rows(char_ids)

    assert torch.equal(found[index], char_ids)
    assert sorted(found.tolist()) == sorted(map(list, {tuple(row) for row in rows}))
