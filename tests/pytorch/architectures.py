"""Trains published architectures for a step, with random weights, on the CPU and through the prebuilt adapter.

    python architectures.py [NAME ...]

The models come from the packages transformers, timm and torchvision (requirements.txt beside this file). A model passes where loss
and gradients are as near to those in double precision as the CPU's are: at most 4 times as far, or 1e-4. Small batches make some
networks so badly conditioned that no fixed bound would do: one value that rounds to the other side of a ReLU's zero changes the
gradients of a batch by a per cent. A model that misses the bound is trained again on other inputs, at most twice; a defect misses
the bound on all of them.
"""

import copy
import sys
import traceback
import warnings

CLOSE = 1e-4
TIMES = 4.0
DRAWS = 3

IMAGES = {
    # Package, then names with the side of the images.
    "torchvision": {
        "alexnet": 96, "vgg11_bn": 64, "mobilenet_v2": 96, "mobilenet_v3_small": 96, "shufflenet_v2_x0_5": 96, "squeezenet1_1": 96,
        "mnasnet0_5": 96, "densenet121": 128, "googlenet": 96, "efficientnet_b0": 96, "regnet_y_400mf": 96, "resnext50_32x4d": 96,
        "swin_t": 96, "vit_b_32": 224, "convnext_tiny": 96, "inception_v3": 96,
    },
    "timm": {
        "ghostnet_100": 96, "mixer_s32_224": 224, "resmlp_12_224": 224, "deit_tiny_patch16_224": 224, "poolformer_s12": 96,
        "edgenext_xx_small": 96, "mobilevit_xxs": 256, "efficientformer_l1": 224, "levit_128s": 224, "hrnet_w18_small": 96,
        "res2net50_26w_4s": 96, "nf_resnet26": 96, "eca_nfnet_l0": 96, "xcit_nano_12_p16_224": 224, "pvt_v2_b0": 224,
        "fastvit_t8": 96,
    },
}  # fmt: skip

RANDOM = ("dropout", "drop_path", "droppath", "stochasticdepth", "alphadropout")


def quiet(module):
    """Turns everything off that is random, so that all runs compute the same."""
    for part in module.modules():
        if type(part).__name__.lower().startswith(RANDOM):
            for name in ("p", "drop_prob"):
                if isinstance(getattr(part, name, None), float):
                    setattr(part, name, 0.0)
        for name, value in list(vars(part).items()):
            if isinstance(value, float) and ("dropout" in name or "drop_rate" in name or name == "layerdrop"):
                setattr(part, name, 0.0)
    config = getattr(module, "config", None)
    for name in list(vars(config)) if config is not None else []:
        if ("drop" in name) and isinstance(getattr(config, name), float):
            setattr(config, name, 0.0)
    return module.train()


def languages():
    """Yields a name, a model and its arguments for small configurations of transformers' models."""
    import torch
    import transformers as t

    small = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    grouped = dict(small, vocab_size=99, num_key_value_heads=2)
    image = dict(image_size=32, patch_size=8, **small)
    ids = torch.randint(3, 99, (2, 16))
    own = dict(input_ids=ids, labels=ids)
    words = dict(input_ids=ids, labels=torch.randint(3, 99, (2, 8)))
    two = torch.tensor([0, 1])
    pixels = torch.randn(2, 3, 32, 32)
    seq2seq = dict(
        vocab_size=99, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=128, decoder_ffn_dim=128,
    )  # fmt: skip
    yield "bert", t.BertForMaskedLM(t.BertConfig(vocab_size=99, **small)), own
    yield "distilbert", t.DistilBertForMaskedLM(t.DistilBertConfig(vocab_size=99, dim=64, n_layers=2, n_heads=4, hidden_dim=128)), own
    electra = t.ElectraConfig(vocab_size=99, embedding_size=32, **small)
    yield "electra", t.ElectraForMaskedLM(electra), own
    deberta = t.DebertaV2Config(vocab_size=99, relative_attention=True, pos_att_type=["p2c", "c2p"], **small)
    yield "deberta-v2", t.DebertaV2ForMaskedLM(deberta), own
    yield "gpt2", t.GPT2LMHeadModel(t.GPT2Config(vocab_size=99, n_embd=64, n_layer=2, n_head=4)), own
    yield "llama", t.LlamaForCausalLM(t.LlamaConfig(**grouped)), own
    yield "mistral", t.MistralForCausalLM(t.MistralConfig(sliding_window=8, **grouped)), own
    yield "qwen2", t.Qwen2ForCausalLM(t.Qwen2Config(**grouped)), own
    yield "mixtral", t.MixtralForCausalLM(t.MixtralConfig(num_local_experts=4, **grouped)), own
    yield "gemma", t.GemmaForCausalLM(t.GemmaConfig(head_dim=16, **grouped)), own
    yield "phi", t.PhiForCausalLM(t.PhiConfig(vocab_size=99, **small)), own
    yield "gpt-neox", t.GPTNeoXForCausalLM(t.GPTNeoXConfig(vocab_size=99, **small)), own
    opt = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, word_embed_proj_dim=64)
    yield "opt", t.OPTForCausalLM(t.OPTConfig(vocab_size=99, **opt)), own
    yield "bloom", t.BloomForCausalLM(t.BloomConfig(vocab_size=99, hidden_size=64, n_layer=2, n_head=4)), own
    yield "mamba", t.MambaForCausalLM(t.MambaConfig(vocab_size=99, hidden_size=64, num_hidden_layers=2)), own
    t5 = dict(vocab_size=99, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0)
    yield "t5", t.T5ForConditionalGeneration(t.T5Config(**t5)), words
    yield "bart", t.BartForConditionalGeneration(t.BartConfig(max_position_embeddings=64, **seq2seq)), words
    yield "vit", t.ViTForImageClassification(t.ViTConfig(**image)), dict(pixel_values=pixels, labels=two)
    swin = dict(image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4, drop_path_rate=0.0)
    yield "swin", t.SwinForImageClassification(t.SwinConfig(**swin)), dict(pixel_values=pixels, labels=two)
    segformer = dict(depths=[1] * 4, hidden_sizes=[16, 16, 32, 32], decoder_hidden_size=32, num_attention_heads=[1, 1, 2, 2])
    scene = dict(pixel_values=torch.randn(2, 3, 64, 64), labels=torch.randint(0, 2, (2, 64, 64)))
    yield "segformer", t.SegformerForSemanticSegmentation(t.SegformerConfig(drop_path_rate=0.0, **segformer)), scene
    clip = t.CLIPConfig(text_config=dict(vocab_size=99, **small), vision_config=image, projection_dim=32)
    yield "clip", t.CLIPModel(clip), dict(input_ids=ids, pixel_values=pixels, return_loss=True)
    whisper = dict(
        num_mel_bins=16, max_source_positions=20, max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, **seq2seq,
    )  # fmt: skip
    sound = dict(input_features=torch.randn(2, 16, 40), labels=torch.randint(3, 99, (2, 8)))
    yield "whisper", t.WhisperForConditionalGeneration(t.WhisperConfig(**whisper)), sound
    wave = dict(
        vocab_size=99, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4, mask_time_prob=0.0, **small,
    )  # fmt: skip
    yield "wav2vec2", t.Wav2Vec2ForSequenceClassification(t.Wav2Vec2Config(**wave)), dict(input_values=torch.randn(2, 800), labels=two)


def classifiers():
    """Yields a name, a model and its arguments for classifiers of torchvision and timm."""
    import timm
    import torch
    import torchvision

    for package, names in IMAGES.items():
        for name, side in names.items():
            if package == "timm":
                model = timm.create_model(name, num_classes=10)
            else:
                more = dict(aux_logits=False, init_weights=False) if name in ("googlenet", "inception_v3") else {}
                model = getattr(torchvision.models, name)(weights=None, num_classes=10, **more)
            yield name, model, dict(pixel_values=torch.randn(2, 3, side, side), labels=torch.tensor([1, 2]))


def step(model, arguments):
    """Returns the loss and all gradients, in double precision on the CPU."""
    import torch

    if hasattr(model, "config"):
        loss = model(**arguments).loss
    else:
        loss = torch.nn.functional.cross_entropy(model(arguments["pixel_values"]), arguments["labels"])
    loss.backward()
    gradients = [parameter.grad.cpu().double().flatten() for parameter in model.parameters() if parameter.grad is not None]
    return loss.item(), torch.cat(gradients)


def distance(one, exact):
    """Returns how far a step is from the exact one, in relation to its size."""
    loss = abs(one[0] - exact[0]) / max(1.0, abs(exact[0]))
    return max(loss, ((one[1] - exact[1]).norm() / exact[1].norm()).item())


def compare(model, arguments):
    """Returns the distances of the CPU's step and the device's step from the exact one."""
    import torch

    def with_each(change):
        return {name: change(value) if isinstance(value, torch.Tensor) else value for name, value in arguments.items()}

    quiet(model)
    device, exact = copy.deepcopy(model).npu(), copy.deepcopy(model).double()
    try:
        reference = step(exact, with_each(lambda value: value.double() if value.is_floating_point() else value))
    except RuntimeError as error:
        # Some operators of PyTorch's CPU have no double precision.
        print(f"single precision is the reference: {error}")
        reference = step(copy.deepcopy(model), arguments)
    return distance(step(model, arguments), reference), distance(step(device, with_each(lambda value: value.npu())), reference)


def redrawn(arguments):
    """Returns arguments with other random numbers in place of the floating-point ones."""
    import torch

    return {
        name: torch.randn_like(value) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for name, value in arguments.items()
    }


def main():
    warnings.filterwarnings("ignore")
    import torch
    import torch_npu  # noqa: F401

    names = sys.argv[1:]
    wrong = count = 0
    for source in (languages, classifiers):
        torch.manual_seed(0)
        for name, model, arguments in source():
            if names and name not in names:
                continue
            count += 1
            for draw in range(DRAWS):
                try:
                    cpu, device = compare(copy.deepcopy(model), redrawn(arguments) if draw else arguments)
                except Exception:
                    traceback.print_exc()
                    cpu = device = float("inf")
                right = device <= max(CLOSE, TIMES * cpu) and device != float("inf")
                said = "right" if right else "WRONG" if draw + 1 == DRAWS else "again"
                print(f"{name:24} {said}: {device:.1e} from the exact step, the CPU {cpu:.1e}", flush=True)
                if right:
                    break
            wrong += not right
    print(f"{count - wrong} of {count} architectures are right")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
