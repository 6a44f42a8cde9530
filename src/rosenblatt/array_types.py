"""Names of types of arrays, for annotations."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Signs = NDArray[np.int8]  # -1 and 1
