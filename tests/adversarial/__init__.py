"""An adversary with exact arithmetic of its own: asks the library, and judges every answer."""
