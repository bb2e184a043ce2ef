"""Decisions of the server, pure: facts and `now` in, frozen actions out. No clock, no I/O, no model."""
