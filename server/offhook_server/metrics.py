"""Every figure the server counts, in one place; names end in their unit. Read at /metrics as Prometheus text."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

registry = CollectorRegistry()

suggestions = Counter(
    "offhook_suggestions_total",
    "Ended parts of suggestion requests, by model and by why they ended.",
    ["source", "outcome"],
    registry=registry,
)
feedback = Counter(
    "offhook_suggestion_feedback_total",
    "What became of suggestions in the editor.",
    ["outcome", "shown"],
    registry=registry,
)
http_requests = Counter(
    "offhook_http_requests_total",
    "Answered requests and upgrades, by route and by status.",
    ["route", "status"],
    registry=registry,
)
connections = Gauge("offhook_connections", "WebSockets open now.", registry=registry)
closed_connections = Counter(
    "offhook_closed_connections_total", "WebSockets that ended, by close code.", ["code"], registry=registry
)
responses = Counter(
    "offhook_responses_total",
    "Ended responses, by transport and by status.",
    ["transport", "status"],
    registry=registry,
)
first_output_seconds = Histogram(
    "offhook_first_output_seconds",
    "From the request read to its first output event handed to the transport.",
    ["transport"],
    buckets=[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registry=registry,
)
merged_deltas = Counter(
    "offhook_merged_deltas_total",
    "Text deltas joined to the one before, because a client reads slowly.",
    registry=registry,
)
