"""The version of Offhook and of its own events. Not the version of the OpenAI protocol, which has none."""

PRODUCT = "0.1.0"
PROTOCOL = 1
