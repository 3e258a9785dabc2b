import torch


def results(module: torch.nn.Module, x: torch.Tensor, *others: torch.Tensor) -> list[torch.Tensor]:
    """
    Returns the output of a module, and the gradients of its input, if it has one, and of all
    parameters: those of a sum of the output with the same random weights in each call.
    """
    module.zero_grad()
    inputs = x.clone().requires_grad_(x.is_floating_point())
    output = module(inputs, *others)
    drawn = torch.Generator().manual_seed(1)
    weights = torch.randn(output.shape, generator=drawn, dtype=output.dtype)
    (output * weights / output[0].numel()).sum().backward()
    gradients = [inputs.grad] if x.is_floating_point() else []
    return [output.detach(), *gradients, *(each.grad.clone() for each in module.parameters())]
