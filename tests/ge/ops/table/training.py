"""Steps of training, by the formulas that TensorFlow documents for its operators of the same names. A variable is updated;
of a parameter that is not a variable, the new value is the output."""

import numpy as np

from cases import PROTOTYPES, case, const, f, v, var

HALF = ("float16",)
RATE, RHO, EPS, SHARE = 0.1, 0.9, 0.25, 0.8


def number(value):
    return const(v(value))


def step(op, want, parameters, others, attrs=None, name=""):
    """`want` returns the new values of the parameters. Behind the outputs stand the variables."""
    outputs = len(PROTOTYPES[op]["outputs"])

    def both(*values):
        new = list(want(**dict(zip([*parameters, *others], values))))
        return new[:outputs] + new

    held = {key: var(f(4, 3, lo=0.5, hi=2)) for key in parameters}
    case(op, name, {**held, **others}, both, attrs)
    plain = {key: f(4, 3, lo=0.5, hi=2) for key in parameters}
    case(op, f"{name} not variables".strip(), {**plain, **others}, lambda *values: both(*values)[:outputs], attrs, types=HALF, loose=4, why="a step has several roundings of float16")


def mixed(old, share, new):
    return share * old + (1 - share) * new


GRAD = {"grad": f(4, 3)}


def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m, v = mixed(m, beta1, grad), np.maximum(beta2 * v, np.abs(grad))
    return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


for op in ("ApplyAdaMax", "ApplyAdaMaxD"):
    step(op, ada_max, ["var", "m", "v"], {"beta1_power": number(0.5), "lr": number(RATE), "beta1": number(0.9), "beta2": number(0.8), "epsilon": number(EPS), **GRAD})


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = mixed(accum, rho, grad**2)
    way = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    return var - lr * way, accum, mixed(accum_update, rho, way**2)


DELTA = {"lr": number(RATE), "rho": number(RHO), "epsilon": number(EPS), **GRAD}
for op in ("ApplyAdadelta", "ApplyAdadeltaD", "InplaceApplyAdadelta"):
    step(op, adadelta, ["var", "accum", "accum_update"], DELTA)


def amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m, v = mixed(m, beta1, grad), mixed(v, beta2, grad**2)
    vhat = np.maximum(vhat, v)
    return var - lr * np.sqrt(1 - beta2_power) / (1 - beta1_power) * m / (np.sqrt(vhat) + epsilon), m, v, vhat


def adagrad(var, accum, lr, grad, epsilon=0.0, slots=True):
    accum = accum + grad**2 if slots else accum
    return var - lr * grad / (np.sqrt(accum) + epsilon), accum


for op in ("ApplyAdagrad", "ApplyAdagradD"):
    step(op, adagrad, ["var", "accum"], {"lr": number(RATE), **GRAD})
    step(op, lambda **a: adagrad(**a, slots=False), ["var", "accum"], {"lr": number(RATE), **GRAD}, {"update_slots": False}, "accumulator kept")
step("InplaceApplyAdagradV2", lambda **a: adagrad(**a, epsilon=EPS), ["var", "accum"], {"lr": number(RATE), **GRAD}, {"epsilon": EPS})


def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = mixed(ms, rho, grad**2)
    mom = momentum * mom + lr * grad / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    mg, ms = mixed(mg, rho, grad), mixed(ms, rho, grad**2)
    mom = momentum * mom + lr * grad / np.sqrt(ms - mg**2 + epsilon)
    return var - mom, mg, ms, mom


# The second moment is more than the square of the first, as it is in training.
PROP = {"lr": number(RATE), "rho": number(RHO), "momentum": number(SHARE), "epsilon": number(8.0), **GRAD}
step("ApplyRMSProp", rms_prop, ["var", "ms", "mom"], PROP)
for op in ("ApplyCenteredRMSProp", "InplaceApplyCenteredRMSProp"):
    step(op, centered, ["var", "mg", "ms", "mom"], PROP)


def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, l2_shrinkage=0.0):
    shrunk = grad + 2 * l2_shrinkage * var
    new = accum + grad**2
    linear = linear + shrunk - (new**-lr_power - accum**-lr_power) / lr * var
    down = new**-lr_power / lr + 2 * l2
    return np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / down, 0), new, linear


FTRL = {"grad": f(4, 3), "lr": number(0.5), "l1": number(0.25), "l2": number(0.125), "lr_power": number(-0.5)}
step("ApplyFtrl", ftrl, ["var", "accum", "linear"], FTRL)
SHRUNK = {"grad": f(4, 3), "lr": number(0.5), "l1": number(0.25), "l2": number(0.125), "l2_shrinkage": number(0.5), "lr_power": number(-0.5)}
step("ApplyFtrlV2", ftrl, ["var", "accum", "linear"], SHRUNK)


def near(var, rate, grad, l1, l2):
    point = var - rate * grad
    return np.sign(point) * np.maximum(np.abs(point) - rate * l1, 0) / (1 + rate * l2)


def proximal(var, accum, lr, l1, l2, grad):
    accum = accum + grad**2
    return near(var, lr / np.sqrt(accum), grad, l1, l2), accum


PROXIMAL = {"lr": number(RATE), "l1": number(0.5), "l2": number(0.25), **GRAD}
for op in ("ApplyProximalAdagrad", "InplaceApplyProximalAdagrad"):
    step(op, proximal, ["var", "accum"], PROXIMAL)
step("ApplyProximalGradientDescent", lambda var, alpha, l1, l2, delta: [near(var, alpha, delta, l1, l2)], ["var"],
     {"alpha": number(RATE), "l1": number(0.5), "l2": number(0.25), "delta": f(4, 3)})
step("ApplyGradientDescent", lambda var, alpha, delta: [var - alpha * delta], ["var"], {"alpha": number(RATE), "delta": f(4, 3)})


def keras(var, accum, lr, grad, momentum, nesterov=False):
    accum = accum * momentum - grad * lr
    return (var + accum * momentum - grad * lr if nesterov else var + accum), accum


def momentum(var, accum, lr, grad, momentum, nesterov=False):
    accum = accum * momentum + grad
    return var - lr * (grad + momentum * accum if nesterov else accum), accum


SHARES = {"lr": number(RATE), **GRAD, "momentum": number(SHARE)}
for op, want in [("ApplyKerasMomentum", keras), ("InplaceApplyKerasMomentum", keras), ("InplaceApplyMomentum", momentum)]:
    step(op, want, ["var", "accum"], SHARES)
    step(op, lambda want=want, **a: want(**a, nesterov=True), ["var", "accum"], SHARES, {"use_nesterov": True}, "looking ahead")
PRODUCT = {"lr": number(RATE), "x1": f(4, 3), "momentum": number(SHARE), "x2": number(0.5)}
for op, want in [("FusedMulApplyKerasMomentum", keras), ("FusedMulApplyMomentum", momentum)]:
    step(op, lambda x1, x2, want=want, **a: want(grad=x1 * x2, **a), ["var", "accum"], PRODUCT)


def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m = mixed(m, beta, grad)
    return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


step("InplaceApplyPowerSign", power_sign, ["var", "m"], {"lr": number(RATE), "logbase": number(1.0), "sign_decay": number(0.5), "beta": number(0.25), **GRAD})


def dual_averaging(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step):
    total, squares = gradient_accumulator + grad, gradient_squared_accumulator + grad**2
    size = np.maximum(np.abs(total) - l1 * global_step, 0)
    return -np.sign(total) * size * lr / (l2 * global_step * lr + np.sqrt(squares)), total, squares


DUAL = ["var", "gradient_accumulator", "gradient_squared_accumulator"]
case("InplaceApplyAdagradDA", "", {**{key: var(f(4, 3, lo=0.5, hi=2)) for key in DUAL}, "grad": f(4, 3), "lr": number(RATE), "l1": number(0.25), "l2": number(0.5),
     "global_step": const(v(3, "int64"))}, lambda *a: [*dual_averaging(*a)] * 2)


def sparse(op, want, parameters, others, attrs=None):
    """A step on the rows 3 and 1."""
    outputs = len(PROTOTYPES[op]["outputs"])

    def both(*values):
        values = dict(zip([*parameters, *others], values))
        rows = values.pop("indices")
        whole = [values[key].copy() for key in parameters]
        new = want(**{key: value[rows] if key in parameters else value for key, value in values.items()})
        for all_rows, changed in zip(whole, new):
            all_rows[rows] = changed
        return whole[:outputs] + whole

    held = {key: var(f(4, 3, lo=0.5, hi=2)) for key in parameters}
    case(op, "", {**held, **others}, both, attrs)
    plain = {key: f(4, 3, lo=0.5, hi=2) for key in parameters}
    case(op, "not variables", {**plain, **others}, lambda *values: both(*values)[:outputs], attrs, types=HALF, loose=4, why="a step has several roundings of float16")


ROWS = {"grad": f(2, 3), "indices": v([3, 1], "int32")}
sparse("SparseApplyAdadelta", adadelta, ["var", "accum", "accum_update"], {"lr": number(RATE), "rho": number(RHO), "epsilon": number(EPS), **ROWS})
sparse("SparseApplyAdagradV2", adagrad, ["var", "accum"], {"lr": number(RATE), "epsilon": number(EPS), **ROWS})
REST = {key: FTRL[key] for key in ("lr", "l1", "l2", "lr_power")}
sparse("SparseApplyFtrl", ftrl, ["var", "accum", "linear"], {**ROWS, **REST})
REST = {key: SHRUNK[key] for key in ("lr", "l1", "l2", "l2_shrinkage", "lr_power")}
sparse("SparseApplyFtrlV2", ftrl, ["var", "accum", "linear"], {**ROWS, **REST})
sparse("SparseApplyProximalAdagrad", proximal, ["var", "accum"], {"lr": number(RATE), "l1": number(0.5), "l2": number(0.25), **ROWS})
sparse("SparseApplyRMSProp", rms_prop, ["var", "ms", "mom"], {"lr": number(RATE), "rho": number(RHO), "momentum": number(SHARE), "epsilon": number(EPS), **ROWS})


def adam(var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad):
    rate = lr * np.sqrt(1 - power2) / (1 - power1)
    m, v = mixed(m, beta1, grad), mixed(v, beta2, grad**2)
    return var - rate * m / (np.sqrt(v) + epsilon), m, v


MOMENTS = {"beta1_power": number(0.81), "beta2_power": number(0.75), "lr": number(RATE), "beta1": number(0.9), "beta2": number(0.8), "epsilon": number(EPS), **GRAD}
HELD = ("var", "m", "v")
case("ApplyAdamD", "", {**{key: var(f(4, 3, lo=0.5, hi=2)) for key in HELD}, **MOMENTS}, lambda *a: [*adam(*a)] * 2)
case("ApplyAdamD", "not variables", {**{key: f(4, 3, lo=0.5, hi=2) for key in HELD}, **MOMENTS}, adam, types=HALF, loose=4, why="a step has several roundings of float16")
for op in ("ApplyAdam", "ApplyMomentum"):
    names = HELD if op == "ApplyAdam" else ("var", "accum")
    rest = MOMENTS if op == "ApplyAdam" else SHARES
    want = adam if op == "ApplyAdam" else momentum
    case(op, "not a variable", {**{key: f(4, 3, lo=0.5, hi=2) for key in names}, **rest}, lambda *a, want=want: want(*a)[0])
case("Assign", "not a variable", {"ref": f(2, 3), "value": f(2, 3)}, lambda ref, value: value)
case("AssignAdd", "not a variable", {"ref": f(2, 3), "value": f(2, 3)}, lambda ref, value: ref + value)
case("AssignSub", "not a variable", {"var": f(2, 3), "value": f(2, 3)}, lambda ref, value: ref - value)


def at_rows(x, rows, updates, how):
    y = x.copy()
    how.at(y, rows, updates)
    return [y]


SLICES = {"indices": v([3, 1, 3], "int32"), "updates": f(3, 3, lo=0.5, hi=2)}
for op, how, types in [("ScatterMax", np.maximum, ("float16", "int32")), ("ScatterMin", np.minimum, ("float16", "int32")), ("ScatterMul", np.multiply, ("float16", "int32")), ("ScatterDiv", np.divide, HALF)]:
    case(op, "a variable", {"var": var(f(4, 3, lo=0.5, hi=2)), **SLICES}, lambda *a, how=how: at_rows(*a, how) * 2, types=types, loose=2, why="a quotient by a reciprocal has two roundings")
    case(op, "not a variable", {"var": f(4, 3, lo=0.5, hi=2), **SLICES}, lambda *a, how=how: at_rows(*a, how))
ND = {"indices": v([[3], [3]], "int32"), "updates": f(2, 3)}
case("ScatterNdSub", "a variable", {"var": var(f(4, 3)), **ND}, lambda x, n, u: at_rows(x, n[:, 0], u, np.subtract) * 2, types=("float16", "int32"))
case("ScatterNdSub", "not a variable", {"var": f(4, 3), **ND}, lambda x, n, u: at_rows(x, n[:, 0], u, np.subtract))
BETAS = {"beta1_power": number(0.5), "beta2_power": number(0.25), "lr": number(RATE), "beta1": number(0.9), "beta2": number(0.8), "epsilon": number(EPS)}
held = {key: f(4, 3, lo=0.5, hi=2) for key in ("var", "m", "v", "vhat")}
case("ApplyAdamWithAmsgradV2", "variables", {**{key: var(fill) for key, fill in held.items()}, **BETAS, **GRAD}, lambda *a: list(amsgrad(*a)) * 2)
case("ApplyAdamWithAmsgradV2", "not variables", {**held, **BETAS, **GRAD}, lambda *a: list(amsgrad(*a)))
