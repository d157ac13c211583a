"""Small models with random weights, in the layouts that vLLM reads, and what transformers computes of them on the CPU."""

import os

#: Words of the tokenizer.
VOCABULARY = 512
COMMON = dict(
    vocab_size=VOCABULARY, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=2048,
    tie_word_embeddings=False, bos_token_id=1, eos_token_id=2, initializer_range=0.08,
)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=64, norm_topk_prob=True)
LATENT = dict(
    num_key_value_heads=2, q_lora_rank=None, kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, n_routed_experts=4, num_experts_per_tok=2,
    n_shared_experts=1, moe_intermediate_size=64, first_k_dense_replace=1, n_group=1, topk_group=1,
)
#: The architecture of each model: the name of its classes in transformers, what its configuration has beside the common part, and its element type.
MODELS = {
    "qwen2": ("Qwen2", {}, "float16"),
    "llama": ("Llama", {}, "bfloat16"),
    "qwen3": ("Qwen3", dict(head_dim=64), "float16"),
    "qwen3-moe": ("Qwen3Moe", dict(head_dim=64, **EXPERTS), "float16"),
    "deepseek-v2": ("DeepseekV2", LATENT, "float16"),
}


def make(name, folder):
    """Writes a model and its tokenizer, and returns the folder."""
    import torch
    import transformers

    family, further, dtype = MODELS[name]
    path = os.path.join(folder, name)
    if os.path.exists(os.path.join(path, "tokenizer.json")):
        return path
    torch.manual_seed(1)
    configuration = getattr(transformers, f"{family}Config")(**{**COMMON, **further})
    model = getattr(transformers, f"{family}ForCausalLM")(configuration).to(getattr(torch, dtype))
    # Otherwise vLLM adds the end of a sequence to the tokens at which a request ends.
    model.generation_config.eos_token_id = None
    model.save_pretrained(path)
    tokenizer().save_pretrained(path)
    return path


def quantised(path, folder):
    """Writes a copy of a model with weights of 8 bits, one scale for each row, as the vendor's compressor does, and beside it in `float` what they stand for."""
    import json
    import shutil

    import torch
    from safetensors.torch import load_file, save_file

    target = os.path.join(folder, os.path.basename(path) + "-w8a8")
    if os.path.exists(os.path.join(target, "quant_model_description.json")):
        return target
    shutil.copytree(path, target, dirs_exist_ok=True)
    shutil.copytree(path, os.path.join(target, "float"), dirs_exist_ok=True)
    stored, exact, described = {}, {}, {"model_quant_type": "W8A8_DYNAMIC"}
    for name, values in load_file(os.path.join(path, "model.safetensors")).items():
        exact[name], described[name] = values, "FLOAT"
        if "_proj.weight" not in name:
            stored[name] = values
            continue
        scale = values.float().abs().amax(1, keepdim=True) / 127
        codes = (values.float() / scale).round()
        exact[name] = (codes * scale).to(values.dtype)
        parts = {"weight": codes.to(torch.int8), "weight_scale": scale, "weight_offset": torch.zeros_like(scale)}
        for part, tensor in parts.items():
            own = name.replace("weight", part)
            stored[own], described[own] = tensor.contiguous(), "W8A8_DYNAMIC"
    save_file(stored, os.path.join(target, "model.safetensors"), {"format": "pt"})
    save_file(exact, os.path.join(target, "float", "model.safetensors"), {"format": "pt"})
    with open(os.path.join(target, "quant_model_description.json"), "w") as to:
        json.dump(described, to)
    return target


def adapter(path, folder):
    """Writes a low-rank adapter of a model (LoRA), and returns its folder."""
    import json

    import torch
    from safetensors.torch import save_file

    target = os.path.join(folder, os.path.basename(path) + "-lora")
    os.makedirs(target, exist_ok=True)
    torch.manual_seed(2)
    tensors = {}
    for layer in range(COMMON["num_hidden_layers"]):
        base = f"base_model.model.model.layers.{layer}.self_attn.o_proj"
        tensors[f"{base}.lora_A.weight"] = torch.randn(8, COMMON["hidden_size"]) * 0.1
        tensors[f"{base}.lora_B.weight"] = torch.randn(COMMON["hidden_size"], 8) * 0.1
    save_file(tensors, os.path.join(target, "adapter_model.safetensors"))
    with open(os.path.join(target, "adapter_config.json"), "w") as to:
        json.dump({"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["o_proj"], "bias": "none", "task_type": "CAUSAL_LM"}, to)
    return target


def tokenizer():
    """Returns a tokenizer with one token for each word w0, w1, ..."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<unk>", "<s>", "</s>"] + [f"w{index}" for index in range(VOCABULARY - 3)]
    own = Tokenizer(models.Unigram([(word, 0.0) for word in words], unk_id=0))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=own, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="</s>")
    made.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    return made


def prompts(count=4, length=5):
    """Returns lists of tokens of different lengths."""
    return [[3 + (7 * row + column * column) % 400 for column in range(length + row)] for row in range(count)]


class Reference:
    """A model in float32 on the CPU."""

    def __init__(self, path):
        import torch
        import transformers

        self.torch = torch
        exact = os.path.join(path, "float")
        path = exact if os.path.exists(exact) else path
        self.model = transformers.AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.float32)
        stored = str(self.model.config.to_dict().get("dtype") or self.model.config.to_dict().get("torch_dtype"))
        # What rounding may move a logit by, relative to the largest.
        self.rounding = 0.08 if "bfloat16" in stored else 0.02

    def logits(self, tokens, start):
        """Returns the logits of what follows each token from `start` on."""
        with self.torch.no_grad():
            return self.model(self.torch.tensor([tokens])).logits[0, start - 1 :]

    def check(self, prompt, generated):
        """Returns where a greedy continuation is not the model's, as a sentence, or nothing."""
        logits = self.logits(prompt + generated, len(prompt))
        for step, token in enumerate(generated):
            row = logits[step]
            missing = float(row.max() - row[token])
            if missing > self.rounding * float(row.abs().max()):
                return f"token {step} is {token}, and {int(row.argmax())} is more likely by {missing:.3f}"
        return None
