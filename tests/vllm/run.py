"""Runs vLLM with its plug-in for Ascend devices, unmodified, on small models with random weights, and compares with transformers on the CPU.

    jumar run -- python tests/vllm/run.py                    every mode of every model that has it, a process each
    jumar run -- python tests/vllm/run.py qwen2 llama        some models
    jumar run -- python tests/vllm/run.py --mode eager       one mode

Prints a line for each: right, or what is wrong or refused, in the words of the library that refuses. Ends with 1 unless each result is the expected one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import models

HERE = os.path.dirname(os.path.abspath(__file__))


def greedy(llm, prompts, tokens=12, **more):
    from vllm import SamplingParams

    given = [{"prompt_token_ids": prompt} for prompt in prompts]
    done = llm.generate(given, SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, **more), use_tqdm=False)
    return [list(one.outputs[0].token_ids) for one in done]


def compare(path, prompts, generated):
    reference = models.Reference(path)
    for prompt, tokens in zip(prompts, generated):
        wrong = reference.check(prompt, tokens)
        if wrong:
            raise SystemExit(f"wrong: after {len(prompt)} tokens, {wrong}")


def start(path, **options):
    from vllm import LLM

    return LLM(model=path, **{"max_model_len": 512, "seed": 0, **options})


def generation(path, **options):
    """Greedy continuations of prompts of different lengths in one batch."""
    prompts = models.prompts()
    compare(path, prompts, greedy(start(path, **options), prompts))


def chunks(path):
    """Prompts that are longer than a step may be."""
    prompts = models.prompts(2, 70)
    llm = start(path, enforce_eager=True, max_num_batched_tokens=32, max_num_seqs=4)
    compare(path, prompts, greedy(llm, prompts))


def prefixes(path):
    """Prompts with a common beginning of more than a block, one after the other."""
    prompts = [models.prompts(1, 140)[0] + own for own in models.prompts(2, 6)]
    llm = start(path, enforce_eager=True, enable_prefix_caching=True)
    compare(path, prompts, [greedy(llm, [prompt])[0] for prompt in prompts])


def sampling(path):
    """Seeds, the filters top-k, top-p and min-p, penalties, and probabilities of tokens."""
    from vllm import SamplingParams

    import torch

    # With steps that overlap, the plug-in draws the random numbers of a step while the step before may still read its own: on two streams, in the same memory.
    llm, reference, prompt = start(path, enforce_eager=True, async_scheduling=False), models.Reference(path), models.prompts(1)[0]

    def sample(**options):
        options = {"max_tokens": 12, "ignore_eos": True, "temperature": 1.0, **options}
        done = llm.generate([{"prompt_token_ids": prompt}], SamplingParams(**options), use_tqdm=False)[0]
        return done.outputs[0]

    def expect(holds, what):
        if not holds:
            raise SystemExit(f"wrong: {what}")

    one, two, other = (list(sample(seed=seed, temperature=2.0).token_ids) for seed in (1, 1, 2))
    expect(one == two and one != other, "seeds do not determine the tokens")
    for options in ({"top_k": 3}, {"top_p": 0.5}, {"min_p": 0.3}, {"top_k": 20, "top_p": 0.7}):
        tokens = list(sample(seed=3, **options).token_ids)
        logits = reference.logits(prompt + tokens, len(prompt))
        for row, token in zip(logits, tokens):
            order = row.argsort(descending=True).tolist()
            chances = row.softmax(-1)
            before = float(chances[order[: order.index(token)]].sum())
            slack = reference.rounding * float(row.abs().max())
            expect(float(row[order[options.get("top_k", len(order)) - 1]] - row[token]) <= slack, f"{options}: a token that is less likely than the k-th")
            expect(before <= options.get("top_p", 1.0) + 0.1, f"{options}: a token behind the sum p")
            expect(float(chances[token] / chances.max()) >= 0.7 * options.get("min_p", 0.0), f"{options}: a token below min_p")
    for options in ({"repetition_penalty": 1e6}, {"presence_penalty": 2.0, "frequency_penalty": 2.0, "logit_bias": {}}):
        tokens = list(sample(temperature=0, **options).token_ids)
        if "repetition_penalty" in options:
            positive = [float(reference.logits(prompt + tokens[:step], len(prompt) + step)[-1].max()) > 0 for step in range(len(tokens))]
            expect(not all(positive) or len(set(tokens + prompt)) == len(set(prompt)) + len(tokens), "a token is repeated in spite of its penalty")
    listed = sample(temperature=0, logprobs=3)
    logits = reference.logits(prompt + list(listed.token_ids), len(prompt)).log_softmax(-1)
    for row, own in zip(logits, listed.logprobs):
        for token, found in own.items():
            expect(abs(float(row[token]) - found.logprob) < 0.2, f"the logarithm of a probability is {found.logprob}, and not {float(row[token])}")
    expect(torch.isfinite(logits).all(), "the reference is finite")


def structure(path):
    """Continuations that a list of words permits."""
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    choice = StructuredOutputsParams(choice=["w5", "w6"])
    llm = start(path, enforce_eager=True)
    done = llm.generate([{"prompt_token_ids": models.prompts(1)[0]}], SamplingParams(temperature=0, max_tokens=4, structured_outputs=choice), use_tqdm=False)
    text = done[0].outputs[0].text.strip()
    if text not in ("w5", "w6"):
        raise SystemExit(f"wrong: the text is {text!r}")


def lookup(path):
    """Speculation by repetitions in the prompt changes no token."""
    repeated = models.prompts(1, 6)[0] * 4
    speculation = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3, "prompt_lookup_min": 1}
    compare(path, [repeated], greedy(start(path, enforce_eager=True, speculative_config=speculation), [repeated], 16))


def sleeping(path):
    """A model that gave its memory back, and took it again."""
    # The plug-in refuses to sleep with weights in its own layout.
    os.environ["VLLM_ASCEND_ENABLE_NZ"] = "0"
    prompts = models.prompts(2)
    llm = start(path, enforce_eager=True, enable_sleep_mode=True)
    before = greedy(llm, prompts)
    llm.sleep(level=1)
    llm.wake_up()
    after = greedy(llm, prompts)
    if before != after:
        raise SystemExit("wrong: other tokens after the sleep")
    compare(path, prompts, after)


def weights_of_8_bits(path):
    """Weights of 8 bits, and activations that are quantised by rows."""
    path = models.quantised(path, os.path.dirname(path))
    llm, reference, prompts = start(path, enforce_eager=True, quantization="ascend"), models.Reference(path), models.prompts()
    # Activations lose more than the type's rounding.
    reference.rounding = 0.1
    for prompt, tokens in zip(prompts, greedy(llm, prompts)):
        wrong = reference.check(prompt, tokens)
        if wrong:
            raise SystemExit(f"wrong: {wrong}")


def adapters(path):
    """A request with a low-rank adapter. The kernels of the plug-in are code for a card alone."""
    from vllm.lora.request import LoRARequest

    llm = start(path, enforce_eager=True, enable_lora=True, max_lora_rank=8)
    own = LoRARequest("small", 1, models.adapter(path, os.path.dirname(path)))
    prompt = {"prompt_token_ids": models.prompts(1)[0]}
    llm.generate([prompt], lora_request=own, use_tqdm=False)
    raise SystemExit("wrong: there are tokens, which no kernel has computed")


def libraries(path):
    """The plug-in's own library loads, and that of its operators for a card does not: its functions would be preferred, and they launch code for a card."""
    import ctypes
    import glob

    import torch
    import vllm_ascend
    import vllm_ascend.vllm_ascend_C

    assert torch.ops._C_ascend.npu_add_rms_norm_bias
    for library in glob.glob(os.path.join(os.path.dirname(vllm_ascend.__file__), "_cann_ops_custom/vendors/*/op_api/lib/libcust_opapi.so")):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        raise SystemExit(f"wrong: {library} is loaded")


def embedding(path):
    """The last hidden state, normalized."""
    import torch
    import transformers

    prompts = models.prompts(2)
    llm = start(path, enforce_eager=True, runner="pooling")
    found = [torch.tensor(one.outputs.embedding) for one in llm.embed([{"prompt_token_ids": prompt} for prompt in prompts], use_tqdm=False)]
    model = transformers.AutoModel.from_pretrained(path, torch_dtype=torch.float32)
    for prompt, own in zip(prompts, found):
        with torch.no_grad():
            last = model(torch.tensor([prompt])).last_hidden_state[0, -1]
        cosine = float(torch.nn.functional.cosine_similarity(own.float(), last, dim=0))
        if cosine < 0.999:
            raise SystemExit(f"wrong: the cosine with the reference is {cosine}")


def serving(path):
    """`vllm serve` with a client of OpenAI's protocol."""
    import socket

    from openai import OpenAI

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    vllm = os.path.join(os.path.dirname(sys.executable), "vllm")
    server = subprocess.Popen([vllm, "serve", path, "--port", str(port), "--max-model-len", "512", "--served-model-name", "small"])
    try:
        client = OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
        deadline = time.monotonic() + 500
        while True:
            try:
                client.models.list()
                break
            except Exception as error:  # The server is starting.
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"the server has not started: {error}")
                time.sleep(1)
        prompt = models.prompts(1)[0]
        text = client.completions.create(model="small", prompt=prompt, max_tokens=12, temperature=0, extra_body={"ignore_eos": True}).choices[0].text
        tokens = models.tokenizer()(text)["input_ids"]
        compare(path, [prompt], [tokens])
        said = client.chat.completions.create(model="small", messages=[{"role": "user", "content": "w1 w2"}], max_tokens=4, temperature=0, stream=True)
        if not any(part.choices and part.choices[0].delta.content for part in said):
            raise SystemExit("wrong: a stream without text")
    finally:
        server.terminate()
        server.wait(60)


#: What is done in each mode, and which models have it: all, or those that are named.
DENSE = ("qwen2",)
MODES = {
    "eager": (lambda path: generation(path, enforce_eager=True), None),
    "graphs": (generation, None),
    "full graphs": (lambda path: generation(path, compilation_config={"cudagraph_mode": "FULL_DECODE_ONLY"}), ("qwen2", "llama", "qwen3")),
    "chunked prefill": (chunks, ("qwen2", "qwen3-moe", "deepseek-v2")),
    "prefix cache": (prefixes, ("qwen2", "deepseek-v2")),
    "sampling": (sampling, DENSE),
    "structured output": (structure, DENSE),
    "speculation": (lookup, DENSE),
    "sleep": (sleeping, DENSE),
    "libraries": (libraries, DENSE),
    "8 bits": (weights_of_8_bits, DENSE),
    "adapters": (adapters, DENSE),
    "embedding": (embedding, ("qwen3",)),
    "two tensor ranks": (lambda path: generation(path, enforce_eager=True, tensor_parallel_size=2), ("qwen2",)),
    "two stages": (lambda path: generation(path, enforce_eager=True, pipeline_parallel_size=2), ("qwen2",)),
    "server": (serving, DENSE),
}


#: Modes that are refused, with words of the refusal.
REFUSED = {"adapters": "cannot execute"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(models.MODELS))
    parser.add_argument("--mode", action="append", choices=list(MODES))
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "jumar-vllm-models"), help="where the models are written")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "MODE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        model, mode = options.one
        MODES[mode][0](models.make(model, options.folder))
        return 0
    os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1")
    os.environ.setdefault("JUMAR_DEVICES", "2")
    # vLLM forks the process of its engine, and the threads of OpenMP, which PyTorch's CPU operators have started before, do not survive that.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    failed = 0
    for model in options.models or models.MODELS:
        for mode in options.mode or MODES:
            if MODES[mode][1] and model not in MODES[mode][1]:
                continue
            begin = time.monotonic()
            command = [sys.executable, os.path.join(HERE, "run.py"), "--folder", options.folder, "--one", model, mode]
            log = os.path.join(options.folder, f"{model}-{mode.replace(' ', '-')}.log")
            os.makedirs(options.folder, exist_ok=True)
            with open(log, "w") as to:
                try:
                    code = subprocess.run(command, stdout=to, stderr=subprocess.STDOUT, timeout=900).returncode
                except subprocess.TimeoutExpired:
                    code = "no end after 900 s"
            said = "right" if code == 0 else last_error(log, code, REFUSED.get(mode))
            failed += code != 0 and not (mode in REFUSED and REFUSED[mode] in said)
            print(f"{model:12} {mode:18} {time.monotonic() - begin:5.0f} s  {said}", flush=True)
    print(f"{failed} not right" if failed else "all right")
    return int(failed > 0)


def last_error(log, code, expected):
    """The sentence of the first failure in a log, or the one that is expected."""
    with open(log, errors="replace") as text:
        lines = text.read().splitlines()
    for line in lines:
        if expected and expected in line:
            return f"refused: {line[-300:]}"
    for line in lines:
        for mark in ("wrong: ", "NotImplementedError", "RuntimeError: ", "Error: "):
            if mark in line:
                return line[line.index(mark) :][:300]
    return f"ended with {code}: {log}"


if __name__ == "__main__":
    sys.exit(main())
