"""Who answers, in what order: each lane performs what its machine in `core` decides."""
