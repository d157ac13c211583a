"""Generates an object from a module of MLIR's LLVM dialect, with the code generator of Triton's own library.

Runs without the packages of an environment: generate.py <libtriton.so> <module.mlir> <object> <processor>
"""

import importlib.machinery
import importlib.util
import sys

library, source, result, processor = sys.argv[1:]
loader = importlib.machinery.ExtensionFileLoader("libtriton", library)
libtriton = importlib.util.module_from_spec(importlib.util.spec_from_loader("libtriton", loader))
loader.exec_module(libtriton)
ir, llvm = libtriton.ir, libtriton.llvm

llvm.init_targets()
context = ir.context()
ir.load_dialects(context)
module = ir.parse_mlir_module(source, context)
# The module refers to its context, and does not keep it alive.
llvm_context = llvm.context()
lowered = llvm.to_module(module, llvm_context)
triple = "x86_64-unknown-linux-gnu"
llvm.attach_datalayout(lowered, triple, processor, "")
llvm.optimize_module(lowered, llvm.OPTIMIZE_O3, processor, "", [], False)
code = llvm.translate_to_asm(str(lowered), triple, processor, "", [], False, True)
with open(result, "wb") as file:
    file.write(code)
