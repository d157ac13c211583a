"""Collective operations and data-parallel training of MindSpore between processes.

    JUMAR_DEVICES=2 jumar run -- python ranks.py [--ranks N]

The program starts its ranks by `msrun`. Results are compared with NumPy; the losses of training in parallel with those of one process.
"""

import os
import subprocess
import sys
import tempfile


def rank():
    import mindspore as ms
    import numpy as np
    from mindspore import nn, ops
    from mindspore.communication import get_group_size, get_rank, init

    ms.set_device("Ascend")
    init()
    own, count = get_rank(), get_group_size()
    x = [np.arange(8, dtype=np.float32).reshape(4, 2) * (each + 1) for each in range(count)]

    def given():
        # A broadcast writes to its input.
        return ms.Tensor(x[own])

    def check(name, found, wanted):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6, err_msg=name)

    check("AllReduce", ops.AllReduce()(given()), sum(x))
    check("AllReduce, maximum", ops.AllReduce(ops.ReduceOp.MAX)(given()), np.maximum.reduce(x))
    check("AllGather", ops.AllGather()(given()), np.concatenate(x))
    check("Broadcast", ops.Broadcast(1)((given(),))[0], x[1])
    check("ReduceScatter", ops.ReduceScatter()(given()), np.split(sum(x), count)[own])
    check("AlltoAll", ops.AlltoAll(count, 0, 0)(given()), np.concatenate([np.split(each, count)[own] for each in x]))

    # Data parallel: each rank has a part of the batch, and the mean of the gradients.
    random = np.random.default_rng(1)
    data, labels = random.standard_normal((8, 6)).astype(np.float32), random.integers(0, 3, 8).astype(np.int32)
    weights = (random.standard_normal((3, 6)) * 0.3).astype(np.float32)

    def train(data, labels, parallel):
        net = nn.Dense(6, 3, weight_init=ms.Tensor(weights), bias_init="zeros")
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        loss = nn.CrossEntropyLoss()
        step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
        mean = nn.DistributedGradReducer(optimizer.parameters, True, count) if parallel else None
        losses = []
        for _ in range(10):
            value, gradients = step(ms.Tensor(data), ms.Tensor(labels))
            optimizer(mean(gradients) if parallel else gradients)
            losses.append((ops.AllReduce()(value) / count if parallel else value).asnumpy())
        return np.array(losses)

    part = slice(own * 8 // count, (own + 1) * 8 // count)
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    found = train(data[part], labels[part], True)
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.STAND_ALONE)
    np.testing.assert_allclose(found, train(data, labels, False), rtol=1e-4)
    print(f"rank {own} of {count}: ok", flush=True)
    os._exit(0)


def main():
    count = int(sys.argv[sys.argv.index("--ranks") + 1]) if "--ranks" in sys.argv else 2
    folder = tempfile.mkdtemp(prefix="mindspore-ranks-")
    msrun = os.path.join(os.path.dirname(sys.executable), "msrun")
    command = [msrun, f"--worker_num={count}", f"--local_worker_num={count}", "--join=True", "--cluster_time_out=120"]
    # The ranks are started by the name `python`.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    environment = dict(os.environ, GLOG_v="3", PATH=path)
    command += [f"--log_dir={folder}", "--master_port=18118", os.path.abspath(__file__), "rank"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    texts = {name: open(os.path.join(folder, name), errors="replace").read() for name in sorted(os.listdir(folder)) if name.startswith("worker_")}
    right = sum(f" of {count}: ok" in text for text in texts.values())
    if right != count:
        for name, text in texts.items():
            print(f"{name}:\n{text[-1500:]}")
        print(done.stdout[-1000:], done.stderr[-1000:])
    print(f"{right} of {count} ranks are right")
    return right != count


if __name__ == "__main__":
    sys.exit(rank() if "rank" in sys.argv[1:2] else main())
