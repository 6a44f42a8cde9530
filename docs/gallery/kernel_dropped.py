"""Labels that were flipped on purpose, and the samples that were dropped for their mistakes."""

import sys
from pathlib import Path

import rosenblatt as rb

clean = rb.datasets.circles(200, noise=0.1, random_state=0)
data = rb.datasets.flip_labels(clean, 0.06, random_state=1)
model = rb.KernelPerceptron(kernel="gaussian", sigma=0.5, drop_after=5).fit(data.X, data.y)
found, planted = set(model.dropped_.sample.tolist()), set(data.noisy.tolist())
precision, recall = len(found & planted) / len(found), len(found & planted) / len(planted)

ax = rb.plot.decision(model, data.X, data.y, class_names=data.target_names)
ax.set_xlabel(
    f"x1\n{len(planted)} labels were flipped. Of the {len(found)} dropped samples "
    f"{precision:.0%} are among them (precision),\nand {recall:.0%} of them were dropped (recall)."
)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "kernel_dropped.png", dpi=92)
