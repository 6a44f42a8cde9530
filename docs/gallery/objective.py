"""Why summing over all samples fails."""

import sys
from pathlib import Path

import rosenblatt as rb

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(rb.plot.objective(), folder / "objective.png", dpi=120)
