"""What the bias does: w = (1, 1) with b = 0 and b = -4."""

import sys
from pathlib import Path

import rosenblatt as rb

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(rb.plot.bias(), folder / "bias.png", dpi=120)
