"""The operators that programs are made of: a line each in TABLE, with what torch calls it and how its arguments are
drawn."""
import typing

import torch
import torch.nn.functional as F

from . import arguments as draw
from .arguments import ALL, FLOATS, one, over, tensor_and_dim, two, two_tensors


class Operator(typing.NamedTuple):
    """How far a result may be from torch's: `ulps` of it, and `terms` roundings of its operands' largest elements, of
    which `degree` are multiplied."""

    call: typing.Callable
    draw: typing.Callable  # with a Maker: the words of its arguments
    ulps: float = 0
    terms: float = 0
    degree: int = 1
    is_view: bool = False  # or returns its input: its strides are torch's
    weight: float = 1
    has_values: bool = True  # else only sizes and dtype are compared
    is_free: bool = False  # to do it in another order, so that infinity and no number come out elsewhere
    wants_contiguous: bool = False  # torch does


# ---- torch's side of what it calls otherwise


def extremes(function):
    def call(a, *how):
        found = function(a, *how)
        return list(found) if isinstance(found, tuple) else found
    return call


def over_dims(function):
    """Of no dimensions it is all of them."""
    return lambda a, dims=(), keep=False: function(a, list(range(a.dim())) if dims in ((), []) else dims, keep)


def statistic(function):
    def call(a, *how):
        has_dims = bool(how) and not isinstance(how[0], bool)
        dims, flags = (how[0], how[1:]) if has_dims else ([], how)
        if dims == []:
            dims = list(range(a.dim()))
        return function(a, dims, unbiased=flags[0] if flags else True, keepdim=len(flags) == 2 and flags[1])
    return call


def norm(a, order=2, dims=None, keep=False):
    return torch.norm(a, order, dims, keep)


def power(a, b):
    is_odd = isinstance(b, bool) and torch.is_floating_point(a)  # its gradient is nonsense
    return torch.pow(a, int(b) if is_odd else b)


def index_select(a, dim, index):
    if a.dim() == 0 and index.numel() != 1:
        raise IndexError("index to scalar can have only 1 value")  # torch writes where nothing is; later ones refuse
    return torch.index_select(a, dim, index)


def scatter_add_(a, dim, index, source):
    check_places(a, dim, index)
    return a.scatter_add_(dim, index, source)


def index_add_(a, dim, index, source, alpha=1):
    check_places(a, dim, index)
    return a.index_add_(dim, index, source, alpha=alpha)


def check_places(a, dim, index):
    """torch has changed some elements when it refuses."""
    size = a.size(dim) if a.dim() else 1
    if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < size:
        raise IndexError("index out of range")


def mul_(a, b):
    if isinstance(b, torch.Tensor) and b.is_sparse and not a.is_sparse:
        raise RuntimeError("dense *= sparse")  # torch has it, and changes the first even where it refuses in the end
    return a.mul_(b)


def select(a, dim, index):
    if a.is_sparse and not -a.dim() <= dim < a.sparse_dim() - a.dim() and not 0 <= dim < a.sparse_dim():
        raise RuntimeError("not along a dense dimension")  # torch writes where nothing is
    return torch.select(a, dim, index)


def sparse_coo(indices, values, sizes):
    """Operators in place leave the values that it was made of as they are."""
    return torch.sparse_coo_tensor(indices, values.clone(), sizes)


def split(a, size, dim=0):
    """Of pieces that may be changed in place."""
    with torch.no_grad():
        pieces = torch.split(a, size, dim)
    starts = [sum(piece.size(dim) for piece in pieces[:i]) for i in range(len(pieces))]
    return [a.narrow(dim, start, piece.size(dim)) for start, piece in zip(starts, pieces)]


def batch_norm(x, weight=None, bias=None, epsilon=1e-5):
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, epsilon)


def nll_loss(x, target, weight=None, ignored=-100, reduction="mean"):
    return F.nll_loss(x, target, weight, ignore_index=ignored, reduction=reduction)


def cross_entropy(x, target, weight=None, ignored=-100, reduction="mean", smoothing=0.0):
    return F.cross_entropy(x, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=smoothing)


def embedding_bag(table, indices, offsets, mode="mean", sparse=False, weights=None):
    return F.embedding_bag(indices, table, offsets, mode=mode, sparse=sparse, per_sample_weights=weights)


def max_pool2d(x, window, stride=(), padding=0):
    return F.max_pool2d(x, window, stride or None, padding)


def maker_of(function):
    return lambda sizes, dtype="float32": function(sizes, dtype=getattr(torch, dtype))


def add(a, b, alpha=1):
    return torch.add(a, b, alpha=alpha)


def sub(a, b, alpha=1):
    return torch.sub(a, b, alpha=alpha)


ELEMENTWISE = {
    "neg": torch.neg, "relu": torch.relu, "cos": torch.cos, "sin": torch.sin, "sigmoid": torch.sigmoid,
}
MORE_ELEMENTWISE = ("tanh", "exp", "log", "sqrt", "rsqrt", "reciprocal", "abs", "square")
IN_PLACE = ("neg_", "exp_", "tanh_", "sigmoid_", "sqrt_", "abs_", "relu_")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
SHARES = ("isnan", "isinf", "isfinite", "logical_not")


def comparison(name):
    """Of integers as they are: torch would wrap a number that they can't be."""
    def widest(value):
        is_whole = isinstance(value, torch.Tensor) and not value.is_floating_point()
        return value.long() if is_whole else value

    return lambda a, b: getattr(torch, name)(widest(a), widest(b))


COMPARISONS = {name: comparison(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}

TABLE = {
    # arithmetic
    "add": Operator(add, draw.with_sparse(draw.two_and_alpha), ulps=1, terms=1, degree=2, weight=3),
    "sub": Operator(sub, draw.two_and_alpha, ulps=1, terms=1, degree=2, weight=2),
    "rsub": Operator(lambda a, b: torch.rsub(b, a), draw.number_and_tensor),
    "mul": Operator(torch.mul, draw.with_sparse(two), weight=3),
    "div": Operator(torch.div, draw.with_sparse(two), ulps=1, weight=2),
    "rdiv": Operator(lambda a, b: a / b, draw.number_and_tensor, ulps=2),  # torch multiplies the reciprocal
    "add_": Operator(lambda a, b, alpha=1: a.add_(b, alpha=alpha), draw.with_sparse_changed(
        draw.changed_and_alpha, "sparse"), ulps=1, terms=1, degree=2, is_view=True, weight=3),
    "sub_": Operator(lambda a, b, alpha=1: a.sub_(b, alpha=alpha), draw.changed_and_alpha, ulps=1, terms=1, degree=2,
                     is_view=True),
    "mul_": Operator(mul_, draw.with_sparse_changed(draw.changed, "number", "sparse", "dense"), is_view=True,
                     weight=2),
    "div_": Operator(lambda a, b: a.div_(b), draw.with_sparse_changed(draw.changed, "number"), ulps=1, is_view=True),
    "fill_": Operator(lambda a, number: a.fill_(number), draw.changed_by_number, is_view=True),
    "zero_": Operator(lambda a: a.zero_(), draw.changed_alone, is_view=True),
    "copy_": Operator(lambda a, b: a.copy_(b), draw.overwritten, is_view=True, weight=2),
    # elementwise
    **{name: Operator(call, one(), ulps=4, terms=1) for name, call in ELEMENTWISE.items()},
    **{name: Operator(call, two) for name, call in COMPARISONS.items()},
    "clamp_min": Operator(torch.clamp_min, draw.with_number),
    **{name: Operator(getattr(torch, name), one(), ulps=8, terms=1) for name in MORE_ELEMENTWISE},
    **{name: Operator(lambda a, name=name: getattr(a, name)(), draw.changed_alone, ulps=8, terms=1,
                      is_view=True, weight=0.5) for name in IN_PLACE},
    **{name: Operator(getattr(torch, name), two_tensors, weight=0.5) for name in LOGICAL},
    **{name: Operator(getattr(torch, name), one(), weight=0.5) for name in SHARES},
    "clamp_max": Operator(torch.clamp_max, draw.with_number),
    "clamp": Operator(torch.clamp, draw.bounds(draw.any_tensor)),
    "clamp_": Operator(lambda a, *how: a.clamp_(*how), draw.bounds(draw.changeable), is_view=True),
    "clamp_min_": Operator(lambda a, number: a.clamp_min_(number), draw.changed_by_number, is_view=True, weight=0.5),
    "clamp_max_": Operator(lambda a, number: a.clamp_max_(number), draw.changed_by_number, is_view=True, weight=0.5),
    "pow": Operator(power, two, ulps=16, weight=2),
    "pow_": Operator(lambda a, b: a.pow_(b), draw.changed, ulps=16, is_view=True),
    "maximum": Operator(torch.maximum, two_tensors),
    "minimum": Operator(torch.minimum, two_tensors),
    "where": Operator(torch.where, draw.chosen, weight=2),
    "dropout": Operator(F.dropout, draw.certain_chance),
    # places
    "gather": Operator(torch.gather, draw.gathered, weight=2),
    "scatter_add": Operator(torch.scatter_add, draw.scattered(draw.any_tensor), terms=8),
    "scatter_add_": Operator(scatter_add_, draw.scattered(draw.changeable), terms=8, is_view=True),
    "index_select": Operator(index_select, draw.rows, weight=2),
    "index_add": Operator(lambda a, dim, index, source, alpha=1: torch.index_add(a, dim, index, source, alpha=alpha),
                          draw.added_rows(draw.any_tensor), terms=8, degree=2),
    "index_add_": Operator(index_add_, draw.added_rows(draw.changeable), terms=8, degree=2, is_view=True),
    "masked_fill": Operator(torch.masked_fill, draw.masked_and_number),
    "masked_select": Operator(torch.masked_select, draw.masked, wants_contiguous=True),  # else its gradient is wrong
    "one_hot": Operator(F.one_hot, draw.hot),
    # products and networks
    "mm": Operator(torch.mm, draw.matrices, terms=8, degree=2, weight=2),
    "bmm": Operator(torch.bmm, draw.batches, terms=8, degree=2),
    "matmul": Operator(torch.matmul, draw.multiplied, terms=8, degree=2, weight=3),
    "multi_dot": Operator(torch.linalg.multi_dot, draw.chain, terms=64, degree=4, is_free=True),
    "linear": Operator(F.linear, draw.layer, terms=8, degree=2),
    "conv2d": Operator(F.conv2d, draw.convolved, terms=30, degree=2, is_free=True),
    "max_pool2d": Operator(max_pool2d, draw.pooled),
    "softmax": Operator(torch.softmax, tensor_and_dim(FLOATS), ulps=16, terms=8),
    # Of others it computes nonsense, and writes where nothing is.
    "batch_norm": Operator(batch_norm, draw.normalized, terms=3000, degree=2, is_free=True, wants_contiguous=True),
    "embedding_bag": Operator(embedding_bag, draw.bags, terms=8, degree=2),
    # reductions
    "sum": Operator(torch.sum, over(), ulps=8, terms=16, weight=3),
    "mean": Operator(torch.mean, over(FLOATS), terms=16),
    "prod": Operator(torch.prod, draw.along, ulps=16, is_free=True),
    "var": Operator(statistic(torch.var), draw.varied, terms=64, degree=2),
    "std": Operator(statistic(torch.std), draw.varied, terms=64),
    "norm": Operator(norm, draw.measured, ulps=32, terms=16),
    "log_softmax": Operator(torch.log_softmax, tensor_and_dim(FLOATS), ulps=16, terms=8),
    "layer_norm": Operator(F.layer_norm, draw.row_normalized, terms=3000, degree=2, is_free=True),
    "nll_loss": Operator(nll_loss, draw.classes, terms=16, degree=2, is_free=True),
    "cross_entropy": Operator(cross_entropy, draw.classes_and_smoothing, terms=32, degree=2, is_free=True),
    "mse_loss": Operator(F.mse_loss, draw.losses, terms=16, degree=2),
    "max": Operator(extremes(torch.max), draw.along),
    "min": Operator(extremes(torch.min), draw.along),
    "amax": Operator(over_dims(torch.amax), over()),
    "amin": Operator(over_dims(torch.amin), over()),
    "argmax": Operator(torch.argmax, draw.along),
    "argmin": Operator(torch.argmin, draw.along),
    "cumsum": Operator(torch.cumsum, tensor_and_dim(), ulps=8, terms=16),
    "any": Operator(lambda a, *how: torch.any(a, *how).bool(), draw.along),
    "all": Operator(lambda a, *how: torch.all(a, *how).bool(), draw.along),
    "equal": Operator(torch.equal, draw.any_two),
    "nonzero": Operator(torch.nonzero, one()),
    "item": Operator(lambda a: a.item(), one()),
    # shapes
    "view": Operator(lambda a, sizes: a.view(sizes), draw.other_shape, is_view=True, weight=2),
    "reshape": Operator(torch.reshape, draw.other_shape, is_view=True),
    "flatten": Operator(torch.flatten, draw.flattened, is_view=True),
    "expand": Operator(lambda a, sizes: a.expand(sizes), draw.expanded, is_view=True, weight=2),
    "transpose": Operator(torch.transpose, draw.two_dims, is_view=True, weight=2),
    "t": Operator(torch.t, one(), is_view=True),
    "permute": Operator(torch.permute, draw.permuted, is_view=True),
    "unsqueeze": Operator(torch.unsqueeze, draw.unsqueezed, is_view=True),
    "squeeze": Operator(torch.squeeze, tensor_and_dim(), is_view=True),
    "narrow": Operator(torch.narrow, draw.narrowed, is_view=True, weight=2),
    "select": Operator(select, draw.selected, is_view=True, weight=2),
    "split": Operator(split, draw.split_up, is_view=True, weight=2),
    "cat": Operator(torch.cat, draw.joined(False), weight=2),
    "stack": Operator(torch.stack, draw.joined(True)),
    "size": Operator(lambda a, dim: a.size(dim), tensor_and_dim(), weight=0.3),
    "numel": Operator(torch.numel, one(), weight=0.3),
    # makers, copies, sparse ones
    "ones": Operator(maker_of(torch.ones), draw.made(ALL), weight=0.3),
    "zeros": Operator(maker_of(torch.zeros), draw.made(ALL), weight=0.3),
    "arange": Operator(torch.arange, draw.counted, weight=0.3),
    "linspace": Operator(lambda start, end, steps, dtype="float32":
                         torch.linspace(start, end, steps, dtype=getattr(torch, dtype)), draw.spaced, ulps=4, terms=4,
                         weight=0.3),
    "randint": Operator(torch.randint, draw.drawn_below, has_values=False, weight=0.3),
    "randperm": Operator(torch.randperm, draw.count, has_values=False, weight=0.3),
    "bernoulli": Operator(torch.bernoulli, one(FLOATS), has_values=False, weight=0.3),
    "rand": Operator(maker_of(torch.rand), draw.made(ALL), has_values=False, weight=0.3),
    "randn": Operator(maker_of(torch.randn), draw.made(ALL), has_values=False, weight=0.3),
    "ones_like": Operator(torch.ones_like, one()),
    "zeros_like": Operator(torch.zeros_like, one()),
    "clone": Operator(torch.clone, one()),
    "contiguous": Operator(lambda a: a.contiguous(), one(), is_view=True),
    "sparse_coo": Operator(sparse_coo, draw.sparse_parts, terms=4),
    "coalesce": Operator(lambda a: a.coalesce(), draw.sparse_or_dense, terms=4),
    "to_dense": Operator(lambda a: a.to_dense(), draw.sparse_or_dense, terms=4, is_view=True),
    # of run_tensor_program itself
    "detach": Operator(lambda a: a.detach(), one(), is_view=True, weight=0.3),
    "to_dtype": Operator(lambda a, dtype: a.to(getattr(torch, dtype)), draw.converted),
}
OF_THE_PROGRAM = {"detach", "to_dtype"}
# To other devices: `--device virtual` runs whole programs there.
NOT_DRAWN = {"to", "cpu", "cuda"}
