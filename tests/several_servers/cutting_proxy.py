"""A proxy before the database's socket, which cuts connections between a query and its reply, or passes nothing on for a while."""
import pathlib
import random
import shutil
import socket
import tempfile
import threading

SOCKET = ".s.PGSQL.5432"
BYTES_MAX = 65_536


class Connection:
    def __init__(self, client, path):
        self.client = client
        self.server = socket.socket(socket.AF_UNIX)
        self.server.connect(path)
        self.cuts_reply = False
        self.is_silent = False  # it stays open, and passes nothing on any more

    def close(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class CuttingProxy:
    """`folder`: where clients find its socket."""

    def __init__(self, database_folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-cut-"))
        self.database = str(database_folder / SOCKET)
        self.connections = set()
        self.cuts = 0
        self.passes = threading.Event()
        self.passes.set()
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / SOCKET))
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.passes.set()
        with self.lock:
            for connection in self.connections:
                connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                connection = Connection(client, self.database)
            except OSError:
                return
            with self.lock:
                self.connections.add(connection)
            threading.Thread(target=self._pass, args=(connection, client, connection.server, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(connection, connection.server, client, True), daemon=True).start()

    def _pass(self, connection, source, target, is_reply):
        try:
            while data := source.recv(BYTES_MAX):
                self.passes.wait()
                if connection.is_silent:
                    continue
                if is_reply and connection.cuts_reply:
                    break  # the server has done it, and the client does not learn it
                target.sendall(data)
        except OSError:
            pass
        connection.close()
        with self.lock:
            self.connections.discard(connection)

    def cut(self, seed):
        """Each connection at once, or when the reply to what it asks comes."""
        numbers = random.Random(seed)
        with self.lock:
            for connection in self.connections:
                self.cuts += 1
                if numbers.random() < 0.3:
                    connection.close()
                else:
                    connection.cuts_reply = True

    def silence(self):
        """The connections that there are pass nothing on any more. New ones do."""
        with self.lock:
            for connection in self.connections:
                connection.is_silent = True

    def freeze(self):
        self.passes.clear()

    def continue_(self):
        self.passes.set()
