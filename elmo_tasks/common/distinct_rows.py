import torch


def distinct_rows(char_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Returns the distinct rows of a matrix of ids, such as char ids of shape (tokens, 50), and for
    each row its index among them, shape (tokens,). Compares rows by a hash of 64 bits, ten times as
    fast as `torch.unique` over rows, and then in full, so the result is right even if hashes clash.
    """
    if len(char_ids) == 0:
        return char_ids, char_ids.new_zeros(0)
    hashes = (char_ids * _factors(char_ids)).sum(dim=1)
    hashes, rows = torch.unique(hashes, return_inverse=True)
    # One token is chosen for each hash. Any will do if all tokens with the same hash are equal.
    chosen = rows.new_zeros(len(hashes))
    chosen[rows] = torch.arange(len(char_ids), device=char_ids.device)
    distinct = char_ids[chosen]
    if torch.equal(distinct[rows], char_ids):
        return distinct, rows
    return torch.unique(char_ids, dim=0, return_inverse=True)


def _factors(char_ids: torch.Tensor) -> torch.Tensor:
    """Returns odd numbers of 64 bits that are the same in every process."""
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (char_ids.size(1),), generator=generator) * 2 + 1
    return factors.to(char_ids.device)
