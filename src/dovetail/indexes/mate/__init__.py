"""MATE: which tables join on several of my columns together, exactly."""
