"""A softmax in Triton on a device, compared with PyTorch's on the CPU."""

import torch
import torch_npu  # noqa: F401
import triton
import triton.language as tl


@triton.jit
def softmax(source, result, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0) * stride
    at = tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(source + row + at, mask=mask, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(result + row + at, values / tl.sum(values, axis=0), mask=mask)


source = torch.randn(1823, 781)
on_device = source.npu()
result = torch.empty_like(on_device)
softmax[(source.shape[0],)](on_device, result, source.shape[1], on_device.stride(0), BLOCK=triton.next_power_of_2(source.shape[1]))
difference = (result.cpu() - torch.softmax(source, 1)).abs().max().item()
print(f"largest difference from PyTorch: {difference:.1e}")
assert difference < 1e-6
