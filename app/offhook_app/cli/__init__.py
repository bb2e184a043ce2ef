"""The `offhook` command. Terminal commands import no Qt."""
