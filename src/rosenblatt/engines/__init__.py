"""Other places to compute than the processor: optional parts."""
