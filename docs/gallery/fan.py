"""Eight points, six runs, six lines that separate them."""

import sys
from pathlib import Path

import rosenblatt as rb

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(rb.plot.fan(), folder / "fan.png", dpi=120)
