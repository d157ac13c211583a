"""Steps of Adam and LAMB in parts, by the formulas in the documents of the operators."""

import numpy as np

from cases import case, f, refused, v, var

from .training import step

HALF = ("float16",)


def number(value, dtype=None):
    return v([value], dtype)


def adam(input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, mul4_x=0.0):
    second = input0**2 * mul3_x + input1 * mul2_x
    first = input2 * mul0_x + input0 * mul1_x
    return second, first, input3 - (first / (np.sqrt(second) + add2_y) + input3 * mul4_x) * input4


REST = {"input4": number(0.125), "mul0_x": number(0.875), "mul1_x": number(0.25), "mul2_x": number(0.75), "mul3_x": number(0.5), "add2_y": number(0.125)}
DECAY = {"mul4_x": number(0.25)}
STATE = {"input1": f(4, 3, lo=0.5), "input2": f(4, 3), "input3": f(4, 3)}
for op, more, kinds in [("AdamApplyOne", {}, ["float16", "bfloat16"]), ("AdamApplyOneWithDecay", DECAY, ["float16", "bfloat16"])]:
    inputs = {"input0": f(4, 3), **STATE, **REST, **more}
    case(op, "", inputs, adam, types=kinds)
    step(f"{op}Assign", adam, ["input1", "input2", "input3"], {"input0": f(4, 3), **REST, **more})


def adam_v2(var, m, v, lr, beta1, beta2, epsilon, grad, global_grad_norm, weight_decay, max_grad_norm=None, step_size=None):
    if max_grad_norm is not None:
        grad = grad * np.minimum(1, max_grad_norm / global_grad_norm)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    way = (lr if step_size is None else step_size) * m / (np.sqrt(v) + epsilon)
    return var - way - lr * weight_decay * var, m, v


V2 = {"lr": number(0.125), "beta1": number(0.875), "beta2": number(0.75), "epsilon": number(0.125), "grad": f(4, 3), "global_grad_norm": number(4.0), "weight_decay": number(0.25)}
step("ApplyAdamV2", adam_v2, ["var", "m", "v"], V2)
for most in (1.0, 8.0):
    step("ApplyAdamV2", adam_v2, ["var", "m", "v"], {**V2, "max_grad_norm": number(most)}, name=f"norm of at most {most:g}")
step("ApplyAdamV2", adam_v2, ["var", "m", "v"], {**V2, "step_size": number(0.5)}, {"adam_mode": "mbart_adam"}, "mbart")
refused("ApplyAdamV2", "a mode that is not known", {"var": f(3), "m": f(3), "v": f(3), **{**V2, "grad": f(3)}}, "it must be adam or mbart_adam", {"adam_mode": "adamw"})


def momentum(var, accum, lr, x1, momentum, x2, var_copy, nesterov=False):
    grad = x1 * x2
    accum = accum * momentum + grad
    way = grad * lr + accum * momentum * lr if nesterov else accum * lr
    return [var - way, var_copy - way, accum]


for nesterov in (False, True):
    for name, held in [("", var), ("not variables", lambda fill: fill)]:
        inputs = {"var": held(f(4, 3, dtype="float32")), "accum": held(f(4, 3)), "lr": v(0.125), "x1": f(4, 3), "momentum": v(0.5), "x2": v(2.0),
                  "var_copy": held(f(4, 3, dtype="float16"))}
        again = 1 if name else 2
        case("FusedMulApplyMomentumExtern", f"{'nesterov ' * nesterov}{name}".strip(), inputs, lambda *a, n=nesterov, again=again: [momentum(*a, nesterov=n)[at] for at in (0, 1, 2, 0, 2, 1)[: 3 * again]],
             {"use_nesterov": nesterov}, types=HALF if name else (), out=["float32", "float16", None, "float32", None, "float16"][: 3 * again])


def lamb(grad, inputv, inputm, input3, mul0_x, mul1_x, mul2_x, mul3_x, add2_y, steps, do_use_weight, weight_decay_rate):
    second = inputv * mul2_x + grad**2 * mul3_x
    first = inputm * mul0_x + grad * mul1_x
    way = first / (1 - mul0_x**steps) / (np.sqrt(second / (1 - mul2_x**steps)) + add2_y)
    return [way + input3 * weight_decay_rate * do_use_weight, second, first]


OPTIMIZER = {"input3": f(4, 3), "mul0_x": number(0.875), "mul1_x": number(0.25), "mul2_x": number(0.75), "mul3_x": number(0.5), "add2_y": number(0.125),
             "steps": number(3.0), "do_use_weight": number(1.0), "weight_decay_rate": number(0.25)}
case("LambApplyOptimizerAssign", "", {"grad": f(4, 3), "inputv": var(f(4, 3, lo=0.5)), "inputm": var(f(4, 3)), **OPTIMIZER}, lambda *a: [*lamb(*a), *lamb(*a)[1:]])
case("LambApplyOptimizerAssign", "not variables", {"grad": f(4, 3), "inputv": f(4, 3, lo=0.5), "inputm": f(4, 3), **OPTIMIZER}, lamb, types=HALF)


def trust(weight, gradient, least=0.0, otherwise=1.0):
    return weight / gradient if weight > least and gradient > least else otherwise


for weight, gradient in [(3.0, 2.0), (0.0, 2.0), (3.0, 0.0)]:
    step("LambApplyWeightAssign", lambda input_param, input0, input1, input2, input3: [input_param - trust(input0, input1) * input3 * input2], ["input_param"],
         {"input0": v(weight), "input1": v(gradient), "input2": v(0.125), "input3": f(4, 3)}, name=f"norms {weight:g} and {gradient:g}")
    case("LambUpdateWithLrV2", f"norms {weight:g} and {gradient:g}", {"x1": v(weight), "x2": v(gradient), "x3": v(0.125), "x4": f(4, 3), "x5": f(4, 3), "greater_y": v(0.0), "select_e": v(1.5)},
         lambda a, b, rate, update, param, least, otherwise: param - rate * trust(a, b, least, otherwise) * update, types=HALF)


def with_limit(first, up, down, rate, update, param, least, otherwise, most):
    ratio = np.where(first > least, up / down, otherwise)
    return param - np.maximum(np.minimum(ratio, most), least) * rate * update


for name, first, up in [("below its limit", 2.0, 3.0), ("above its limit", 2.0, 90.0), ("no norm", 0.0, 3.0)]:
    case("LambUpdateWithLr", name, {"input_greater1": v(first), "input_greater_realdiv": v(up), "input_realdiv": v(2.0), "input_mul0": v(0.125), "input_mul1": f(4, 3),
                                    "input_sub": f(4, 3), "greater_y": v(0.0), "select_e": v(1.25), "minimum_y": v(10.0)}, with_limit, types=HALF)


def moments(square, second, down_second, grad, first, down_first, param, mul0_x, mul1_sub, mul2_x, mul3_sub1, mul4_x, add2_y):
    y3 = second * mul2_x + square * mul3_sub1
    y2 = first * mul0_x + grad * mul1_sub
    up, part = y2 / down_first, y3 / down_second
    return [param * mul4_x + up / np.sqrt(part + add2_y), y2, y3, up / (np.sqrt(part) + add2_y)]


case("LambNextMV", "", {"input_mul3": f(4, 3, lo=0.5), "input_mul2": f(4, 3, lo=0.5), "input_realdiv1": v(0.5), "input_mul1": f(4, 3), "input_mul0": f(4, 3), "input_realdiv0": v(0.75),
                        "input_mul4": f(4, 3), "mul0_x": v(0.875), "mul1_sub": v(0.25), "mul2_x": v(0.75), "mul3_sub1": v(0.5), "mul4_x": v(0.25), "add2_y": v(0.125)}, moments, types=HALF)


def right(g, second, share, rest, recip, epsilon):
    second = second * share + g**2 * rest
    return [second, np.sqrt(second * recip) + epsilon]


case("LambNextRight", "", {"input_square": f(4, 3), "input_mul2": f(4, 3, lo=0.5), "mul2_x": v(0.75), "mul3_x": v(0.5), "truediv1_recip": v(2.0), "add2_y": v(0.125)}, right, types=HALF)
