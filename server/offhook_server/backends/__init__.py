"""Places to run a model, one file each; `null` is one of them. What is common to them is in `base`."""
