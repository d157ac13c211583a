"""Cases of index: elements read and written at positions, masks, and sorting."""

import torch

from cases import Cases, InOut, Null, Out, Scalar

cases = Cases("index")
torch.manual_seed(5)
TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint8, torch.bool, torch.complex64, torch.complex128,
]
NONE = torch.zeros(0, dtype=torch.int64)


def some(dims, dtype=torch.float32):
    if dtype == torch.bool:
        return torch.rand(dims) < 0.5
    if dtype.is_complex:
        return torch.complex(torch.randint(-9, 9, dims).double(), torch.randint(-9, 9, dims).double()).to(dtype)
    return torch.randint(0 if dtype == torch.uint8 else -9, 9, dims).to(dtype)


def empty(dims, dtype=torch.float32):
    return Out(torch.zeros(dims, dtype=dtype), False)


def at(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


x = some((3, 4, 5))
two = at(2, 0)

# Every type moves.
for dtype in TYPES:
    a = some((3, 4), dtype)
    b = some((3, 2), dtype)
    cases.add("aclnnIndexSelect", self=a, dim=1, index=at(3, 0, 0), out=Out(a.index_select(1, at(3, 0, 0))))
    cases.add("aclnnIndex", self=a, indices=[two, at(1, 3)], out=Out(a[two, at(1, 3)]))
    cases.add("aclnnScatter", self=a, dim=1, index=at(1, 0).expand(3, 2).contiguous(), src=b, reduce=0,
              out=Out(a.scatter(1, at(1, 0).expand(3, 2), b)))
    cases.add("aclnnIndexPutImpl", selfRef=InOut(a, a.index_put((two,), b[0, 0])), indices=[two], values=b[0, 0], accumulate=False, unsafe=False)
    mask = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]]) == 1
    picked = a[mask]
    cases.add("aclnnMaskedSelect", self=a, mask=mask, out=Out(torch.cat([picked, torch.zeros(7, dtype=dtype)])), shapes={"out": [5]})

# Gather, IndexSelect, Embedding, Take.
for dim in (0, 1, 2, -1):
    index = torch.randint(0, 3, (2, 3, 4))
    cases.add("aclnnGather", self=x, dim=dim, index=index, out=Out(x.gather(dim, index)))
    cases.add("aclnnIndexSelect", self=x, dim=dim, index=at(2, 0, 2, 1, dtype=torch.int32), out=Out(x.index_select(dim, at(2, 0, 2, 1))))
    cases.add("aclnnGatherV2", self=x, dim=dim, index=at(2, -1), out=Out(x[(slice(None),) * (dim % 3) + (at(2, -1),)]))
s = torch.tensor(4.0)
cases.add("aclnnGather", self=s, dim=0, index=torch.tensor(0), out=Out(s))
cases.add("aclnnGather", self=x, dim=0, index=NONE, out=Out(torch.zeros(0)))
cases.add("aclnnIndexSelect", self=x, dim=1, index=NONE, out=Out(x[:, :0]))
cases.add("aclnnIndexSelect", self=x[:, :, :0], dim=1, index=two, out=Out(x[:, two, :0]))
cases.add("aclnnIndexSelect", self=x, dim=1, index=at(1), out=empty((3, 2, 5)), refuse=(161002, "it must be [3, 1, 5]"))
cases.add("aclnnIndexSelect", self=x, dim=1, index=at(1).float(), out=empty((3, 1, 5)), refuse=(161002, "it must be int32, int64"))
cases.add("aclnnGather", self=x, dim=0, index=torch.zeros(2, 9, 4, dtype=torch.int64), out=empty((2, 9, 4)), refuse=(161002, "none of them larger"))

cases.add("aclnnTake", self=x, index=at(59, 0, 7).reshape(3, 1), out=Out(x.take(at(59, 0, 7).reshape(3, 1))))

# Scatter and rows.
index = at(2, 0, 0, 1, 2, 2).reshape(1, 2, 3)
src = some((2, 3, 4))
for dim in (0, 1, 2):
    cases.add("aclnnScatterAdd", self=x, dim=dim, index=index, src=src, out=Out(x.scatter_add(dim, index, src)))
    for reduce, name in ((1, "add"), (2, "multiply")):
        cases.add("aclnnInplaceScatterValue", selfRef=InOut(x, x.scatter(dim, index, 2.0, reduce=name)), dim=dim, index=index, value=Scalar(2.0), reduce=reduce)
        cases.add("aclnnInplaceScatter", selfRef=InOut(x, x.scatter(dim, index, src, reduce=name)), dim=dim, index=index, src=src, reduce=reduce)
    cases.add("aclnnInplaceScatterValue", selfRef=InOut(x, x.scatter(dim, index, 2.0)), dim=dim, index=index, value=Scalar(2.0), reduce=0)
    cases.add("aclnnScatterValue", self=x, dim=dim, index=index, value=Scalar(2.0), reduce=0, out=Out(x.scatter(dim, index, 2.0)))
h, g = some((3, 4), torch.float16), some((2, 4), torch.float16)
cases.add("aclnnScatterAdd", self=h, dim=0, index=torch.ones(2, 4, dtype=torch.int64), src=g, out=Out(h.scatter_add(0, torch.ones(2, 4, dtype=torch.int64), g)))
cases.add("aclnnScatterAdd", self=x, dim=0, index=index[:0], src=src, out=Out(x))
cases.add("aclnnScatter", self=x, dim=0, index=index, src=src, reduce=3, out=empty((3, 4, 5)), refuse=(161002, "reduce is 3"))
cases.add("aclnnScatter", self=x, dim=0, index=index, src=src[:, :1], reduce=0, out=empty((3, 4, 5)), refuse=(161002, "as src with the shape"))
complex_x, complex_src = (torch.complex(each.float(), each.float().flip(0)) for each in (x, src))
cases.add("aclnnScatterAdd", self=complex_x, dim=0, index=index, src=complex_src, out=Out(complex_x.scatter_add(0, index, complex_src)))
for dim in (0, 1, 2):
    source = some([2 if axis == dim else size for axis, size in enumerate(x.shape)])
    for alpha in (1.0, 0.5):
        cases.add("aclnnIndexAdd", self=x, dim=dim, index=at(1, 1), source=source, alpha=Scalar(alpha), out=Out(x.index_add(dim, at(1, 1), source, alpha=alpha)))
    cases.add("aclnnInplaceIndexCopy", selfRef=InOut(x, x.index_copy(dim, two, source)), dim=dim, index=two, source=source)
    cases.add("aclnnInplaceIndexFill", selfRef=InOut(x, x.index_fill(dim, two, 7.0)), dim=dim, index=two, value=Scalar(7.0))
cases.add("aclnnIndexAdd", self=x, dim=0, index=two, source=x, alpha=Scalar(1.0), out=empty((3, 4, 5)), refuse=(161002, "it must be [2, 4, 5]"))
for dim in (0, 1, 2):
    classes = torch.tensor([[0, 2, 3], [1, 1, 0]])
    want = torch.where(classes.unsqueeze(dim) == torch.arange(3).reshape([3 if axis == dim else 1 for axis in range(3)]), 5.0, -1.0)
    cases.add("aclnnOneHot", self=classes, numClasses=3, onValue=at(5.0, dtype=torch.float32), offValue=at(-1.0, dtype=torch.float32), axis=dim, out=Out(want))
cases.add("aclnnOneHot", self=at(-1, 1), numClasses=2, onValue=at(1), offValue=at(0), axis=-1, out=Out(torch.tensor([[0, 0], [0, 1]])))

# The rules of NumPy. `N` leaves a dimension.
y = some((3, 4, 2, 5))
i, j, m = at(2, 0, -2), at(1, 3, 0), torch.tensor([1, 0, 1]) == 1
for entries in (
    [i], [None, j], [None, None, at(1, 0)], [i, j], [None, j, at(0, 1, 1)], [i, None, at(0, 1, 1)], [i.reshape(3, 1), at(1, 2)],
    [None, i.reshape(3, 1), None, at(4, 2)], [torch.tensor(1), None, at(1, 0)], [i, j, at(1, 1, 0), at(0, 4, -5)],
    [m], [None, torch.tensor([1, 0, 0, 1]) == 1], [m, None, at(0, 1)], [torch.rand(3, 4) < 0.5], [None, torch.rand(4, 2) < 0.5, at(3)],
    [torch.rand(3, 4, 2, 5) < 0.3], [i.to(torch.int32), None, None, at(0).to(torch.int32)], [m, torch.tensor([0, 1, 1, 0]) == 1],
):
    # The operators of ATen: brackets in Python select by tensors without dimensions before they index.
    key = [entry.long() if entry is not None and entry.dtype == torch.int32 else entry for entry in entries]
    given = [NONE if entry is None else entry for entry in entries]
    want = torch.ops.aten.index.Tensor(y, key)
    cases.add("aclnnIndex", self=y, indices=given, out=Out(want))
    for accumulate in (False, True):
        values = some(want.shape)
        after = torch.ops.aten.index_put(y, key, values, accumulate)
        cases.add("aclnnIndexPutImpl", selfRef=InOut(y, after), indices=given, values=values, accumulate=accumulate, unsafe=True)
    one = torch.tensor(3.0)
    if sum(entry is not None and entry.dtype == torch.bool for entry in entries) < 2:
        after = torch.ops.aten.index_put(y, key, one)
        cases.add("aclnnIndexPutImpl", selfRef=InOut(y, after), indices=given, values=one, accumulate=False, unsafe=False)
z = torch.zeros(3, dtype=torch.float16)
cases.add("aclnnIndexPutImpl", selfRef=InOut(z, torch.tensor([3, 0, 1]).half()), indices=[at(0, 2, 0)], values=torch.tensor([1, 1, 2]).half(), accumulate=True, unsafe=False)
b = torch.zeros(3) == 1
cases.add("aclnnIndexPutImpl", selfRef=InOut(b, at(1, 0, 1) == 1), indices=[two], values=at(1, 1) == 1, accumulate=True, unsafe=False)
cases.add("aclnnIndexPutImpl", selfRef=InOut(x, x), indices=[torch.zeros(3) == 1], values=x[:0], accumulate=False, unsafe=False)
cases.add("aclnnIndex", self=x, indices=[NONE, Null, two], out=Out(x[:, :, two]))
cases.add("aclnnIndex", self=x, indices=[at(0, 1), at(0, 1, 2)], out=empty((2, 5)), refuse=(161002, "cannot be broadcast"))
cases.add("aclnnIndex", self=x, indices=[torch.ones(4) == 1], out=empty((4, 4, 5)), refuse=(161002, "is a mask of the shape"))
cases.add("aclnnIndex", self=x, indices=[two] * 4, out=empty((2,)), refuse=(161002, "indexes 1 dimensions"))
cases.add("aclnnIndex", self=x, indices=[two], out=empty((3, 4, 5)), refuse=(161002, "it must be [2, 4, 5]"))
cases.add("aclnnIndexPutImpl", selfRef=InOut(x, x), indices=[two], values=x, accumulate=False, unsafe=False, refuse=(161002, "cannot be broadcast"))

# Masks.
for w in (some((3, 4)), torch.zeros(2, 2), torch.tensor([0.0, float("nan"), -0.0]), some((2, 3), torch.bool), torch.zeros(0, 3), torch.tensor(2.0)):
    found = w.nonzero()
    n, rank = found.shape
    padded = torch.zeros(w.numel() * rank, dtype=torch.int64)
    padded[: n * rank] = found.flatten()
    cases.add("aclnnNonzero", self=w, out=Out(padded.reshape(w.numel(), rank)), shapes={"out": [n, rank]})
    padded[: n * rank] = found.T.flatten()
    cases.add("aclnnNonzeroV2", self=w, out=Out(padded.reshape(rank, w.numel())), shapes={"out": [rank, n]})
cases.add("aclnnNonzero", self=x, out=empty((60, 2), torch.int64), refuse=(161002, "it must be [60, 3]"))
mask = torch.tensor([1, 0, 1, 1, 0]) == 1
picked = x.masked_select(mask)
cases.add("aclnnMaskedSelect", self=x, mask=mask, out=Out(torch.cat([picked, torch.zeros(60 - len(picked))])), shapes={"out": [len(picked)]})
cases.add("aclnnMaskedSelect", self=x[:0], mask=mask, out=Out(torch.zeros(0)), shapes={"out": [0]})
cases.add("aclnnMaskedSelect", self=x, mask=mask[:3], out=empty((60,)), refuse=(161002, "cannot be broadcast together"))
source = torch.arange(60.0)
cases.add("aclnnInplaceMaskedScatter", selfRef=InOut(x, x.masked_scatter(mask.expand(x.shape), source)), mask=mask, source=source)

# Orders.
nan = float("nan")
for dtype in TYPES[:-2]:
    a = some((3, 7), dtype)
    values, order = a.sort(dim=1, stable=True)
    cases.add("aclnnSort", self=a, stable=True, dim=1, descending=False, valuesOut=Out(values), indicesOut=Out(order))
    values, order = a.sort(dim=0, stable=True, descending=True)
    cases.add("aclnnSort", self=a, stable=True, dim=0, descending=True, valuesOut=Out(values), indicesOut=Out(order))
    values, inverse, counts = a.unique(return_inverse=True, return_counts=True)
    rest = a.numel() - len(values)
    cases.add("aclnnUnique2", self=a, sorted=True, returnInverse=True, returnCounts=True,
              valueOut=Out(torch.cat([values, torch.zeros(rest, dtype=dtype)])), inverseOut=Out(inverse),
              countsOut=Out(torch.cat([counts, torch.zeros(rest, dtype=torch.int64)])), shapes={"valueOut": [len(values)], "countsOut": [len(values)]})
for a in (torch.tensor([1.0, nan, -0.0, 0.0, -nan, float("-inf"), float("inf")]), torch.tensor(2.0), torch.zeros(0, 3), some((2, 3, 4), torch.float64)):
    for descending in (False, True):
        values, order = a.sort(dim=-1, stable=True, descending=descending)
        cases.add("aclnnSort", self=a, stable=False, dim=-1, descending=descending, valuesOut=Out(values), indicesOut=Out(order))
        cases.add("aclnnArgsort", self=a, dim=-1, descending=descending, out=Out(order))
p = torch.randperm(60).reshape(3, 4, 5).float()
for dim, k in ((0, 1), (1, 4), (2, 3), (-1, 0)):
    for largest in (True, False):
        values, order = p.topk(k, dim, largest, True)
        cases.add("aclnnTopk", self=p, k=k, dim=dim, largest=largest, sorted=True, valuesOut=Out(values), indicesOut=Out(order))
cases.add("aclnnTopk", self=p, k=6, dim=2, largest=True, sorted=True, valuesOut=empty((3, 4, 6)), indicesOut=empty((3, 4, 6), torch.int64), refuse=(161002, "k is 6"))
for dim, k, keep in ((1, 2, False), (-1, 5, True), (0, 1, False)):
    values, order = p.kthvalue(k, dim, keep)
    cases.add("aclnnKthvalue", self=p, k=k, dim=dim, keepdim=keep, valuesOut=Out(values), indicesOut=Out(order))

# Indices of a mask without true elements, and an index of bytes.
x = torch.arange(6.0).reshape(2, 3)
for accumulate in (False, True):
    given = [torch.zeros(0, dtype=torch.int64)]
    cases.add("aclnnIndexPutImpl", selfRef=InOut(x, x), indices=given, values=torch.ones(3), accumulate=accumulate, unsafe=False)
index = torch.tensor([[1, 0, 1]], dtype=torch.uint8)
cases.add("aclnnGather", self=x, dim=0, index=index, out=Out(x.gather(0, index.long())))

# Indices of uint8, and an index that selects nothing.
x, index = some((3, 4)), torch.tensor([[2, 0], [1, 1]], dtype=torch.uint8)
source = some((2, 2))
cases.add("aclnnScatterAdd", self=x, dim=0, index=index, src=source, out=Out(x.scatter_add(0, index.long(), source)))
cases.add("aclnnScatter", self=x, dim=0, index=index, src=source, reduce=0, out=Out(x.scatter(0, index.long(), source)))
cases.add("aclnnIndex", self=x, indices=[NONE], out=Out(x[NONE]))
cases.add("aclnnIndex", self=x, indices=[NONE, at(1, 3)], out=Out(x[:, at(1, 3)]))
# A dimension that is indexed with nothing, of a tensor that has nothing: not the same as a dimension that is not indexed.
nothing = torch.empty(0, dtype=torch.int64)
cases.add("aclnnIndex", self=torch.empty(0, 3), indices=[nothing, nothing], out=Out(torch.empty(0, 3)[:, nothing]))

cases.write()
