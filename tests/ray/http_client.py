"""A client of the HTTP interface that a stranger could write."""
import http.client
import json


class HttpClient:
    def __init__(self, port, token=None, timeout=60.0):
        self.port = port
        self.token = token
        self.timeout = timeout

    def _send(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        given = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(headers or {})}
        if body is not None:
            given["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), given)
        return connection, connection.getresponse()

    def request(self, method, path, body=None, headers=None):
        """Status and value of the answer."""
        connection, response = self._send(method, path, body, headers)
        try:
            text = response.read()
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body, key=None):
        return self.request("POST", path, body, {"Idempotency-Key": key} if key else None)

    def start(self, function, arguments, key=None):
        status, value = self.post("/v1/runs", {"fn": function, "args": arguments}, key)
        assert status == 201, value
        return value["run"]

    def events(self, run, after=0):
        """The events of a stream, until it ends or is cut."""
        connection, response = self._send("GET", f"/v1/runs/{run}/events", None,
                                          {"Accept": "text/event-stream", "Last-Event-ID": str(after)})
        try:
            if response.status == 204:
                return
            assert response.status == 200, response.read()
            while line := response.readline():
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])
        finally:
            connection.close()
