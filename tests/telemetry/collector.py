"""A local collector for OTLP over HTTP: parses each request strictly, and keeps the spans."""
import base64
import http.server
import json
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tenon_process import serve


def value_of(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(entry) for entry in any_value.array_value.values]
    return getattr(any_value, kind)


def attributes_of(things):
    return {attribute.key: value_of(attribute.value) for attribute in things}


def with_bytes(value):
    """Converts ids: OTLP's JSON has them in hexadecimal, protobuf's JSON in base64. This is the only difference."""
    if isinstance(value, list):
        return [with_bytes(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {key: base64.b64encode(bytes.fromhex(entry)).decode() if key in ids else with_bytes(entry)
            for key, entry in value.items()}


class Collector:
    def __init__(self, answers=(), delay_seconds=0):
        self.spans, self.resources, self.headers, self.bodies, self.problems = [], [], [], [], []
        self.answers = list(answers)  # status codes for the first requests; after these, 200
        self.delay_seconds = delay_seconds
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(collector.delay_seconds)
                status = collector.answers.pop(0) if collector.answers else 200
                collector.headers.append((self.path, dict(self.headers)))
                collector.bodies.append(body.decode())
                if status == 200:
                    collector.read(body)
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # the client has disconnected without waiting

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        serve(self.server)

    def read(self, body):
        try:
            request = json_format.ParseDict(with_bytes(json.loads(body)), ExportTraceServiceRequest())
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))
            return
        for group in request.resource_spans:
            self.resources.append(attributes_of(group.resource.attributes))
            for scope in group.scope_spans:
                assert scope.scope.name == "tenon" and scope.scope.version
                self.spans.extend(scope.spans)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def environment(self, **more):
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "100", **more}

    def wait_for(self, count, seconds=60):
        deadline = time.monotonic() + seconds
        while len(self.spans) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(self.spans) >= count, self.names()
        return self.spans

    def names(self):
        return sorted(span.name for span in self.spans)

    def find(self, name):
        found = [span for span in self.spans if span.name == name]
        assert len(found) == 1, (name, self.names())
        return found[0]
