"""Trains small language models with Hugging Face's Trainer and with accelerate, on the CPU and through the prebuilt adapter.

    python trainers.py [NAME ...]

A name is a model, a trainer and a type, as in "bert Trainer fp16". Everything else has the packages' defaults, but for dropout, whose random numbers
depend on the device. The reference is the same training on the CPU in double precision. A training passes where the loss of every step is within the
rounding of the type. In fp16 the gradients are scaled; with a scale that makes them overflow, the packages leave steps out, and the reference leaves out the
same ones.
"""

import contextlib
import io
import os
import sys
import tempfile
import traceback
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"

STEPS, BATCH, LENGTH, WORDS = 20, 4, 16, 99
# The largest relative difference of a loss: the type's precision; in float32, what 20 steps make of it.
BOUNDS = {"fp32": 2e-6, "bf16": 2**-8, "fp16": 2**-11}
# Scales of gradients: the default, and one with which the first steps overflow.
USUAL, OVERFLOWING = 2.0**16, 2.0**30
# What the adapter does not offer: its scaler passes itself to the fused optimizer that the Trainer chooses.
REFUSED = {"Trainer fp16": "unexpected keyword argument 'grad_scaler'"}
RATE = 1e-3


def model(name):
    """Returns a model with random weights, the same in every call."""
    import torch
    import transformers as t

    torch.manual_seed(0)
    small = dict(vocab_size=WORDS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    if name == "bert":
        return t.BertForMaskedLM(t.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **small))
    return t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, **small))


def samples():
    """Returns sentences that a model can learn: each word follows from the one before it."""
    import torch

    generator = torch.Generator().manual_seed(1)
    first = torch.randint(3, WORDS, (STEPS * BATCH, 1), generator=generator)
    ids = (first + torch.arange(LENGTH) * 7) % WORDS
    return [{"input_ids": row, "attention_mask": torch.ones_like(row), "labels": row} for row in ids]


def with_trainer(name, dtype, skipped, **changes):
    """Returns the losses of Hugging Face's Trainer, and which steps it left out."""
    import torch
    import transformers as t

    exact = skipped is not None
    modes = changes if exact or dtype == "fp32" else {dtype: True, **changes}
    with tempfile.TemporaryDirectory() as folder:
        options = t.TrainingArguments(
            folder, max_steps=STEPS, per_device_train_batch_size=BATCH, learning_rate=RATE, logging_steps=1, logging_nan_inf_filter=False,
            save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=exact, **modes,
        )  # fmt: skip
        network = model(name).double() if exact else model(name)
        trainer = t.Trainer(network, options, train_dataset=samples())
        with contextlib.redirect_stdout(io.StringIO()):
            trainer.train()
    used = next(trainer.model.parameters()).device.type
    assert used == ("cpu" if exact else "npu"), f"the Trainer chose the device {used}"
    losses = torch.tensor([entry["loss"] for entry in trainer.state.log_history if "loss" in entry], dtype=torch.float64)
    return losses, [False] * STEPS


def with_accelerate(name, dtype, skipped, scale=USUAL):
    """Returns the losses of a loop with accelerate, and which steps it left out; with `skipped`, leaves out these."""
    import accelerate
    import torch

    exact = skipped is not None
    scaling = accelerate.utils.GradScalerKwargs(init_scale=scale)
    accelerator = accelerate.Accelerator(cpu=exact, mixed_precision="no" if exact or dtype == "fp32" else dtype, kwargs_handlers=[scaling])
    network = model(name).double() if exact else model(name)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, STEPS)
    loader = torch.utils.data.DataLoader(samples(), batch_size=BATCH)
    network, optimizer, loader, schedule = accelerator.prepare(network, optimizer, loader, schedule)
    assert accelerator.device.type == ("cpu" if exact else "npu"), f"accelerate chose the device {accelerator.device}"
    losses, left_out = [], []
    for number, batch in enumerate(loader):
        loss = network(**batch).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(network.parameters(), 1.0)
        if not (exact and skipped[number]):
            optimizer.step()
            schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        left_out.append(accelerator.optimizer_step_was_skipped)
    return torch.tensor(losses, dtype=torch.float64), left_out


def fresh():
    """Lets the next run choose its device."""
    from accelerate.state import AcceleratorState, GradientState

    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()


def main():
    warnings.filterwarnings("ignore")
    import torch
    import torch_npu  # noqa: F401  (registers the device "npu")
    import transformers

    transformers.logging.set_verbosity_error()
    trainings = [("Trainer", dtype, with_trainer, {}) for dtype in BOUNDS]
    trainings += [("Trainer without fusion", dtype, with_trainer, {"optim": "adamw_torch"}) for dtype in BOUNDS]
    trainings += [("accelerate", dtype, with_accelerate, {}) for dtype in BOUNDS]
    trainings += [("accelerate with overflow", "fp16", with_accelerate, {"scale": OVERFLOWING})]
    chosen, references = sys.argv[1:], {}
    wrong = count = 0
    for name in ("bert", "llama"):
        for title, dtype, train, options in trainings:
            key = f"{name} {title} {dtype}"
            if chosen and key not in chosen:
                continue
            count += 1
            try:
                fresh()
                losses, skipped = train(name, dtype, None, **options)
            except Exception as error:
                if REFUSED.get(f"{title} {dtype}", "?") in str(error):
                    print(f"{key:40} refused by the adapter: {error}", flush=True)
                    continue
                traceback.print_exc()
                wrong += 1
                continue
            known = train, name, tuple(skipped)
            if known not in references:
                fresh()
                references[known], _ = train(name, "fp32", skipped, **options)
            exact = references[known]
            away = ((losses - exact).abs() / exact.abs()).max().item()
            learnt = exact[-5:].mean() < exact[:5].mean()
            right = away <= BOUNDS[dtype] and learnt and any(skipped) == ("scale" in options)
            wrong += not right
            print(f"{key:40} {'right' if right else 'WRONG'}: {away:.1e} from the exact losses, {sum(skipped)} steps left out", flush=True)
            if not right:
                print(f"losses {losses.tolist()}\nexact  {exact.tolist()}", flush=True)
    print(f"{count - wrong} of {count} trainings are right, or refused by the adapter")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
