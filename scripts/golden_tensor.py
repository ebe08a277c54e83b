#!/usr/bin/python3
"""Writes what numpy computes to tests/golden/tensor, for the tests of the operators to compare with.

usage: golden_tensor.py            writes the files again; the same every time
       golden_tensor.py --check    tells whether they are what it would write (exit status 1 if not)

Needs Debian's python3-numpy; the tests read the files and need neither. A case is

    case NAME
    number NAME VALUE...            its parameters
    tensor NAME DTYPE SIZES: VALUES its inputs, and `result` or several results

SIZES are joined by x, `-` for none.
"""
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/tensor"


class File:
    """The cases of one file, with random numbers of their own."""

    def __init__(self, name, seed):
        self.path = FOLDER / f"{name}.txt"
        self.random = np.random.RandomState(seed)
        self.lines = []

    def normal(self, *sizes, dtype=np.float32):
        return self.random.standard_normal(sizes).astype(dtype)

    def integers(self, low, high, *sizes, dtype=np.int64):
        return self.random.randint(low, high, sizes).astype(dtype)

    def case(self, name, numbers=None, **tensors):
        self.lines.append(f"case {name}")
        for key, values in (numbers or {}).items():
            self.lines.append(f"number {key} " + " ".join(str(value) for value in values))
        for key, array in tensors.items():
            array = np.asarray(array)
            sizes = "x".join(str(size) for size in array.shape) or "-"
            values = " ".join(value_text(value) for value in array.ravel())
            self.lines.append(f"tensor {key} {array.dtype.name} {sizes}: {values}".rstrip())

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def value_text(value):
    return str(value)  # the shortest text that is read back as the same number


def elementwise():
    file = File("elementwise", 1)
    shapes = [((3, 3), (3, 3)), ((2, 1, 3), (4, 1)), ((), (3,)), ((0, 3), (1, 3)), ((5,), ())]
    operators = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    for name, function in operators.items():
        for left, right in shapes:
            a, b = file.normal(*left), file.normal(*right)
            file.case(name, a=a, b=b, result=function(a, b).astype(np.float32))
        a, b = file.normal(3, 3), file.normal(3, 3, dtype=np.float64)
        file.case(name, a=a, b=b, result=function(a, b))
        if name != "div":
            a, b = file.integers(-9, 9, 4), file.integers(-9, 9, 3, 4, dtype=np.int32)
            file.case(name, a=a, b=b, result=function(a, b))
    a, b = file.normal(2, 3), file.normal(3)
    file.case("add_alpha", numbers={"alpha": [2.5]}, a=a, b=b, result=a + np.float32(2.5) * b)
    for dtype in (np.float32, np.float64):
        a = file.normal(3, 4, dtype=dtype) * dtype(3)
        file.case("cos", a=a, result=np.cos(a))
        file.case("sin", a=a, result=np.sin(a))
        file.case("neg", a=a, result=-a)
        file.case("relu", a=a, result=np.maximum(a, 0))
        file.case("clamp_min", numbers={"least": [0.5]}, a=a, result=np.maximum(a, dtype(0.5)))
        file.case("sigmoid", a=a, result=(1 / (1 + np.exp(-a.astype(np.float64)))).astype(dtype))
    return file


def functions():
    file = File("functions", 21)
    for dtype in (np.float32, np.float64):
        a, b = file.normal(3, 5, dtype=dtype), file.normal(5, dtype=dtype)
        size = np.abs(a) + dtype(0.01)
        for name in ("exp", "tanh", "abs", "square", "reciprocal"):
            file.case(name, a=a, result=getattr(np, name)(a))
        for name in ("log", "sqrt"):
            file.case(name, a=size, result=getattr(np, name)(size))
        file.case("rsqrt", a=size, result=(1 / np.sqrt(size.astype(np.float64))).astype(dtype))
        file.case("pow", a=size, b=b, result=np.power(size, b))
        for exponent in (2, 3, -1, 0.5, -1.75):
            file.case("pow_number", numbers={"exponent": [exponent]}, a=size,
                      result=np.power(size.astype(np.float64), exponent).astype(dtype))
        file.case("number_pow", numbers={"base": [2.5]}, b=b,
                  result=np.power(2.5, b.astype(np.float64)).astype(dtype))
        file.case("maximum", a=a, b=b, result=np.maximum(a, b))
        file.case("minimum", a=a, b=b, result=np.minimum(a, b))
        file.case("clamp", numbers={"bounds": [-0.5, 0.75]}, a=a, result=np.clip(a, dtype(-0.5), dtype(0.75)))
        file.case("where_greater", a=a, b=b, result=np.where(a > b, a, dtype(0.25)))
    a, b = file.integers(-9, 9, 4, 3), file.integers(0, 7, 3)
    file.case("pow", a=a, b=b, result=np.power(a, b))
    file.case("maximum", a=a, b=b, result=np.maximum(a, b))
    file.case("abs", a=a, result=np.abs(a))
    return file


def sums():
    file = File("sums", 2)
    for dtype in (np.float32, np.float64):
        a = file.normal(2, 3, 4, dtype=dtype)
        file.case("sum", a=a, result=a.astype(np.float64).sum().astype(dtype))
        file.case("mean", a=a, result=a.astype(np.float64).mean().astype(dtype))
        for dims in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
            file.case("sum_dims", numbers={"dims": dims}, a=a, result=a.astype(np.float64).sum(dims).astype(dtype))
        b = file.normal(2, 3, 4, dtype=dtype)
        file.case("mse_loss", a=a, b=b, result=((a - b).astype(np.float64) ** 2).mean().astype(dtype))
    a = file.integers(-100, 100, 5, 6, dtype=np.int16)
    file.case("sum", a=a, result=a.sum(dtype=np.int64))
    return file


def products():
    file = File("products", 3)
    for dtype in (np.float32, np.float64):
        for left, right in (((3, 3), (3, 3)), ((4, 6), (6, 5)), ((1, 3, 3), (2, 3, 3)), ((2, 1, 2, 3), (4, 3, 1)),
                            ((3,), (3,)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((17, 20), (20, 19))):
            a, b = file.normal(*left, dtype=dtype), file.normal(*right, dtype=dtype)
            file.case("matmul", a=a, b=b, result=np.matmul(a.astype(np.float64), b).astype(dtype))
        a, b, c = file.normal(4, 5, dtype=dtype), file.normal(5, 7, dtype=dtype), file.normal(7, 9, dtype=dtype)
        file.case("multi_dot", a=a, b=b, c=c, result=(a.astype(np.float64) @ b @ c).astype(dtype))
        x, w, bias = file.normal(2, 5, 3, dtype=dtype), file.normal(4, 3, dtype=dtype), file.normal(4, dtype=dtype)
        file.case("linear", x=x, weight=w, bias=bias, result=(x.astype(np.float64) @ w.T + bias).astype(dtype))
    a, b = file.integers(-5, 5, 3, 4), file.integers(-5, 5, 4, 2)
    file.case("matmul", a=a, b=b, result=a @ b)
    return file


def windows(image, window, stride, padding, fill):
    """[channels, rows, columns, window height, window width] of one image."""
    (height, width), (down, across) = window, stride
    image = np.pad(image, ((0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=fill)
    rows = (image.shape[1] - height) // down + 1
    columns = (image.shape[2] - width) // across + 1
    return np.stack([np.stack([image[:, r * down:r * down + height, c * across:c * across + width]
                               for c in range(columns)], 1) for r in range(rows)], 1)


def convolution(x, w, stride, padding):
    return np.stack([np.einsum("crkij,ocij->ork", windows(image, w.shape[2:], stride, padding, 0), w) for image in x])


def convolution_gradients(gradient, x, w, stride, padding):
    of_x = np.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * padding[0], x.shape[3] + 2 * padding[1]))
    of_w = np.zeros(w.shape)
    height, width = w.shape[2:]
    for n, image in enumerate(x):
        seen = windows(image, w.shape[2:], stride, padding, 0)
        of_w += np.einsum("ork,crkij->ocij", gradient[n], seen)
        for r in range(gradient.shape[2]):
            for c in range(gradient.shape[3]):
                top, left = r * stride[0], c * stride[1]
                of_x[n, :, top:top + height, left:left + width] += np.einsum("o,ocij->cij", gradient[n, :, r, c], w)
    down, across = padding
    return of_x[:, :, down:of_x.shape[2] - down, across:of_x.shape[3] - across], of_w


def images():
    file = File("images", 4)
    variants = (((1, 1), (0, 0), np.float32), ((2, 1), (1, 2), np.float64), ((3, 2), (0, 1), np.float32))
    for stride, padding, dtype in variants:
        x, w = file.normal(2, 3, 7, 6, dtype=dtype), file.normal(4, 3, 3, 2, dtype=dtype)
        bias = file.normal(4, dtype=dtype)
        numbers = {"stride": stride, "padding": padding}
        result = convolution(x.astype(np.float64), w.astype(np.float64), stride, padding)
        file.case("conv2d", numbers=numbers, x=x, weight=w, bias=bias,
                  result=(result + bias[:, None, None]).astype(dtype))
        gradient = file.normal(*result.shape, dtype=dtype)
        of_x, of_w = convolution_gradients(gradient, x, w, stride, padding)
        file.case("conv2d_gradients", numbers=numbers, gradient=gradient, x=x, weight=w,
                  of_x=of_x.astype(dtype), of_weight=of_w.astype(dtype))
    for window, stride, padding in (((2, 2), (2, 2), (0, 0)), ((3, 2), (2, 1), (1, 1))):
        x = file.normal(2, 2, 6, 5)
        seen = np.stack([windows(image, window, stride, padding, -np.inf) for image in x])
        file.case("max_pool2d", numbers={"window": window, "stride": stride, "padding": padding}, x=x,
                  result=seen.max((4, 5)))
    return file


def bags():
    file = File("bags", 5)
    for mode in ("sum", "mean"):
        for dtype in (np.float32, np.float64):
            table = file.normal(10, 3, dtype=dtype)
            indices, offsets = file.integers(0, 10, 8), np.array([0, 4, 4, 7])
            weights = file.normal(8, dtype=dtype) if mode == "sum" else np.ones(8, dtype)
            ends = list(offsets[1:]) + [8]
            result = np.zeros((4, 3))
            gradient = file.normal(4, 3, dtype=dtype)
            of_table, of_weights = np.zeros((10, 3)), np.zeros(8)
            for bag, (start, end) in enumerate(zip(offsets, ends)):
                for i in range(start, end):
                    factor = weights[i] / (end - start if mode == "mean" else 1)
                    result[bag] += factor * table[indices[i]]
                    of_table[indices[i]] += factor * gradient[bag]
                    of_weights[i] = gradient[bag] @ table[indices[i]]
            file.case(f"embedding_bag_{mode}", table=table, indices=indices, offsets=offsets, weights=weights,
                      gradient=gradient, result=result.astype(dtype), of_table=of_table.astype(dtype),
                      of_weights=of_weights.astype(dtype))
    return file


def normalization():
    file = File("normalization", 6)
    for dtype in (np.float32, np.float64):
        for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 4), -2), ((5,), 0)):
            x, gradient = 3 * file.normal(*shape, dtype=dtype), file.normal(*shape, dtype=dtype)
            powers = np.exp(x.astype(np.float64) - x.max(dim, keepdims=True))
            result = powers / powers.sum(dim, keepdims=True)
            of_x = (gradient - (gradient * result).sum(dim, keepdims=True)) * result
            file.case("softmax", numbers={"dim": [dim]}, x=x, gradient=gradient, result=result.astype(dtype),
                      of_x=of_x.astype(dtype))
        for shape in ((5, 3), (2, 3, 4), (2, 3, 2, 3)):
            x, gradient = file.normal(*shape, dtype=dtype), file.normal(*shape, dtype=dtype)
            weight, bias = file.normal(3, dtype=dtype), file.normal(3, dtype=dtype)
            around, epsilon = tuple(i for i in range(x.ndim) if i != 1), 1e-3
            whole = [1, 3] + [1] * (x.ndim - 2)
            wide = x.astype(np.float64)
            mean, variance = wide.mean(around), wide.var(around)
            scale = (1 / np.sqrt(variance + epsilon)).reshape(whole)
            normal = (wide - mean.reshape(whole)) * scale
            factor = gradient * weight.reshape(whole)
            of_x = scale * (factor - factor.mean(around, keepdims=True) -
                            normal * (factor * normal).mean(around, keepdims=True))
            file.case("batch_norm", numbers={"epsilon": [epsilon]}, x=x, weight=weight, bias=bias, gradient=gradient,
                      mean=mean.astype(dtype), variance=variance.astype(dtype),
                      result=(normal * weight.reshape(whole) + bias.reshape(whole)).astype(dtype),
                      of_x=of_x.astype(dtype), of_weight=(gradient * normal).sum(around).astype(dtype),
                      of_bias=gradient.sum(around).astype(dtype))
    for dtype in (np.float32, np.float64):
        for shape, dim in (((3, 4), 1), ((3, 40), 1), ((3, 4), 0), ((2, 3, 4), -2), ((5,), 0)):
            x, gradient = 3 * file.normal(*shape, dtype=dtype), file.normal(*shape, dtype=dtype)
            result = logarithms_of_softmax(x, dim)
            of_x = gradient - np.exp(result) * gradient.astype(np.float64).sum(dim, keepdims=True)
            file.case("log_softmax", numbers={"dim": [dim]}, x=x, gradient=gradient, result=result.astype(dtype),
                      of_x=of_x.astype(dtype))
        for shape, rank in (((5, 3), 1), ((2, 3, 4), 2), ((4, 40), 1), ((6,), 1)):
            x, gradient = file.normal(*shape, dtype=dtype), file.normal(*shape, dtype=dtype)
            row = shape[len(shape) - rank:]
            weight, bias = file.normal(*row, dtype=dtype), file.normal(*row, dtype=dtype)
            last, first, epsilon = tuple(range(-rank, 0)), tuple(range(len(shape) - rank)), 1e-3
            wide = x.astype(np.float64)
            scale = 1 / np.sqrt(wide.var(last, keepdims=True) + epsilon)
            normal = (wide - wide.mean(last, keepdims=True)) * scale
            factor = gradient.astype(np.float64) * weight
            of_x = scale * (factor - factor.mean(last, keepdims=True) -
                            normal * (factor * normal).mean(last, keepdims=True))
            file.case("layer_norm", numbers={"epsilon": [epsilon]}, x=x, weight=weight, bias=bias, gradient=gradient,
                      result=(normal * weight + bias).astype(dtype), of_x=of_x.astype(dtype),
                      of_weight=(gradient * normal).sum(first).astype(dtype),
                      of_bias=gradient.astype(np.float64).sum(first).astype(dtype))
    return file


def logarithms_of_softmax(x, dim):
    less = x.astype(np.float64) - x.max(dim, keepdims=True)
    return less - np.log(np.exp(less).sum(dim, keepdims=True))


def losses():
    file = File("losses", 11)
    for dtype, shapes in ((np.float32, ((4, 3), (2, 5, 3), (3, 20))), (np.float64, ((4, 3),))):
        for shape in shapes:
            for reduction in (0, 1, 2):
                for smoothing, is_weighted in ((0, False), (0, True), (0.2, False), (0.2, True)):
                    class_loss(file, shape, dtype, reduction, smoothing, is_weighted)
    return file


def class_loss(file, shape, dtype, reduction, smoothing, is_weighted):
    """reduction: none, mean, sum. Class 1 is left out."""
    classes, ignored = shape[1], 1
    x, target = 2 * file.normal(*shape, dtype=dtype), file.integers(0, classes, shape[0], *shape[2:])
    target[0] = 0
    weight = (file.random.random_sample(classes) + 0.5 if is_weighted else np.ones(classes)).astype(dtype)
    logs, counts = logarithms_of_softmax(x, 1), target != ignored
    own = np.moveaxis(np.eye(classes)[target] * weight, -1, 1)
    every = weight.reshape(1, classes, *[1] * (len(shape) - 2)) * np.ones(shape)
    share = ((1 - smoothing) * own + smoothing / classes * every) * np.expand_dims(counts, 1)
    each = -(share * logs).sum(1)
    by = (weight[target] * counts).sum() if reduction == 1 else 1
    gradient = np.asarray(file.normal(*(each.shape if reduction == 0 else ()), dtype=dtype))
    of_logs = -share * np.expand_dims(gradient if reduction == 0 else gradient * np.ones(each.shape), 1) / by
    numbers = {"reduction": [reduction], "ignored": [ignored], "smoothing": [smoothing]}
    result = each if reduction == 0 else each.sum() / by
    of_x = of_logs - np.exp(logs) * of_logs.sum(1, keepdims=True)
    tensors = {"target": target, "weight": weight, "gradient": gradient, "result": result.astype(dtype)}
    file.case("cross_entropy", numbers, x=x, **tensors, of_x=of_x.astype(dtype))
    if smoothing == 0:
        file.case("nll_loss", numbers, x=logs.astype(dtype), **tensors, of_x=of_logs.astype(dtype))


def reductions():
    file = File("reductions", 12)
    for dtype in (np.float32, np.float64):
        for dims in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
            a = file.normal(3, 4, 5, dtype=dtype)
            wide, numbers = a.astype(np.float64), {"dims": dims}
            file.case("amax", numbers, a=a, result=a.max(dims))
            file.case("amin", numbers, a=a, result=a.min(dims))
            file.case("mean_dims", numbers, a=a, result=wide.mean(dims).astype(dtype))
            file.case("var", numbers, a=a, result=wide.var(dims, ddof=1).astype(dtype))
            file.case("norm", numbers, a=a, result=np.sqrt((wide ** 2).sum(dims)).astype(dtype))
        for dim in (0, 1, 2):
            a = file.normal(3, 4, 5, dtype=dtype)
            numbers = {"dims": (dim,)}
            file.case("argmax", numbers, a=a, result=a.argmax(dim))
            file.case("cumsum", numbers, a=a, result=a.astype(np.float64).cumsum(dim).astype(dtype))
            file.case("prod", numbers, a=a, result=a.astype(np.float64).prod(dim).astype(dtype))
    a = file.integers(-5, 5, 6, 7, dtype=np.int32)
    for dim in (0, 1):
        file.case("argmax", {"dims": (dim,)}, a=a, result=a.argmax(dim))
        file.case("cumsum", {"dims": (dim,)}, a=a, result=a.cumsum(dim, dtype=np.int64))
    return file


def picks():
    file = File("picks", 13)
    for dtype in (np.float32, np.float64, np.int16):
        for dim in (0, 1, 2):
            numbers = {"dims": (dim,)}
            a = (5 * file.normal(3, 4, 5)).astype(dtype)
            sizes = list(a.shape)
            sizes[dim] = 6
            index = file.integers(0, a.shape[dim], *sizes)
            file.case("gather", numbers, a=a, index=index, result=np.take_along_axis(a, index, dim))
            source = (5 * file.normal(*sizes)).astype(dtype)
            added = a.copy()
            for place in np.ndindex(*sizes):
                target = list(place)
                target[dim] = index[place]
                added[tuple(target)] += source[place]
            file.case("scatter_add", numbers, a=a, index=index, source=source, result=added)
            index = file.integers(0, a.shape[dim], 6)
            file.case("index_select", numbers, a=a, index=index, result=a.take(index, dim))
            added = a.copy()
            for i, number in enumerate(index):
                added[(slice(None),) * dim + (number,)] += source[(slice(None),) * dim + (i,)]
            file.case("index_add", numbers, a=a, index=index, source=source, result=added)
    return file


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    changed = 0
    files = (elementwise(), functions(), sums(), products(), images(), bags(), normalization(), losses(), reductions(),
             picks())
    for file in files:
        is_same = file.path.exists() and file.path.read_text() == file.text()
        if not is_same:
            changed += 1
            print(f"{file.path.name}: " + ("is not what it should be" if arguments else "written"))
            if not arguments:
                FOLDER.mkdir(parents=True, exist_ok=True)
                file.path.write_text(file.text())
    return 1 if changed and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
