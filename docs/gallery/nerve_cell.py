"""A nerve cell, and the model that was made after it."""

import sys
from pathlib import Path

import rosenblatt as rb

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(rb.plot.nerve_cell(), folder / "nerve_cell.png", dpi=100)
