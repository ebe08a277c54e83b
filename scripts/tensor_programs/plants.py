"""The negative control: operators that torch's side does wrongly, in a way that must be found."""
import torch

from .operators import TABLE


AMAX = TABLE["amax"].call


def gradient_of_one(a):
    """The values of cos(a)."""
    return torch.cos(a.detach()) + (a - a.detach()) if a.is_floating_point() else torch.cos(a)


def refuse_three(a, first, second):
    if a.dim() == 3:
        raise RuntimeError("three are too many")
    return torch.transpose(a, first, second)


def int32_of_integers(a, *how):
    result = AMAX(a, *how)
    return result.to(torch.int32) if result.dtype == torch.int64 else result


PLANTS = {
    "sin": ("values", lambda a: torch.sin(a) * (1 + 1e-4)),
    "cos": ("a gradient", gradient_of_one),
    "narrow": ("what shares memory", lambda *arguments: torch.narrow(*arguments).clone()),
    "detach": ("what needs a gradient", lambda a: a),
    "transpose": ("a refusal", refuse_three),
    "amax": ("a dtype", int32_of_integers),
    "expand": ("sizes", lambda a, sizes: a.expand(sizes).squeeze()),
}
