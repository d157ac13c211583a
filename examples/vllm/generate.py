"""Generates with vLLM on Jumar: `python generate.py FOLDER`, a folder with a model of Hugging Face. Nothing in it is specific to Jumar."""

import sys

from vllm import LLM, SamplingParams

PROMPTS = ["The capital of France is", "Once upon a time"]


def main():
    llm = LLM(model=sys.argv[1], max_model_len=512)
    for done in llm.generate(PROMPTS, SamplingParams(temperature=0, max_tokens=16)):
        print(repr(done.prompt), "->", repr(done.outputs[0].text))


# vLLM starts processes that import this file again.
if __name__ == "__main__":
    main()
