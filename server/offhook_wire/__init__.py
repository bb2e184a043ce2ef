"""What both sides of the line say and how they agree on a text. Pure: no clock, no I/O, no threads."""
