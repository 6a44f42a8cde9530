"""Five losses of one sample, on one axis."""

import sys
from pathlib import Path

import rosenblatt as rb

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(rb.plot.losses(), folder / "losses.png", dpi=120)
