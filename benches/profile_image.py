"""The image of docs/benchmarks/models.md: which part of a model's time each operator takes."""


def draw(bars, image):
    """Draws which part of a model's time each operator takes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    # The same figures give the same bytes.
    plt.rcParams.update({"svg.hashsalt": "jumar", "font.size": 9})
    figure, axes = plt.subplots(len(bars), 1, figsize=(8, 1.8 * len(bars)), layout="constrained", squeeze=False)
    for axis, (name, sums) in zip(axes[:, 0], bars.items()):
        parts = sorted(sums.items(), key=lambda part: -part[1])
        total = sum(ms for _, ms in parts)
        named = [part for part in parts if part[1] > 0.01 * total]
        named.append(("all others", total - sum(ms for _, ms in named)))
        operators, times = zip(*reversed(named))
        axis.barh(operators, times, color="#3b6ea5")
        for row, ms in enumerate(times):
            axis.text(ms, row, f" {ms:.2f} ms, {100 * ms / total:.0f} %", va="center")
        axis.set_title(f"{name}, batch 1, one thread: {total:.1f} ms", loc="left")
        axis.set_xlim(0, max(times) * 1.2)
        axis.spines[["top", "right"]].set_visible(False)
    image.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(image, metadata={"Date": None, "Creator": None})
