"""The partner lookup interface over PostgreSQL, in Python's standard library and psycopg2.

    python3 server.py 8080

libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE) choose the database.
docs/provide-data.md shows how to fill it.
"""

import hashlib
import json
import math
import re
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import LifoQueue
from urllib.parse import parse_qs, urlsplit

import psycopg2

# Only the form 8-4-4-4-12, in any letter case. A user_id has version 4, a reference_id any version.
USER_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I | re.A)
REFERENCE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I | re.A)

# The table holds only the SHA-256 of keys, so nobody can use a copy of it to call the service.
PARTNER_OF_KEY = """
    SELECT partner FROM api_keys
    WHERE key_sha256 = %s AND state = 'active' AND partner IS NOT NULL"""
# The query itself selects by partner, so data of other partners is never read.
MEMBER = "SELECT date_joined FROM users WHERE user_id = %s AND partner = %s"
EXECUTED_DEPOSIT = """
    SELECT deposits.amount_in_usd, deposits.executed_at
    FROM deposits JOIN users USING (user_id)
    WHERE deposits.reference_id = %s AND users.partner = %s AND deposits.state = 'EXECUTED'"""


class Connections:
    """A fixed number of database connections, each lent to one request at a time.

    A lost connection is not replaced. A real service would use the pool of its framework.
    """

    def __init__(self, size):
        self.idle = LifoQueue()
        for _ in range(size):
            connection = psycopg2.connect("")
            connection.autocommit = True
            self.idle.put(connection)

    @contextmanager
    def lent(self):
        connection = self.idle.get()
        try:
            yield connection
        finally:
            self.idle.put(connection)

    def row(self, query, *values):
        """The first row, or None."""
        with self.lent() as connection, connection.cursor() as cursor:
            cursor.execute(query, values)
            return cursor.fetchone()


class Limiter:
    """A fixed window for each key. It begins with the first counted request."""

    def __init__(self, most, seconds):
        self.most = most
        self.seconds = seconds
        self.windows = {}
        self.lock = threading.Lock()

    def wait(self, key, counts):
        """Seconds until the key is accepted again. If it is 0, the request is accepted.

        The lock covers the check and the count, so that simultaneous requests cannot exceed the limit.
        """
        with self.lock:
            now = time.monotonic()
            ends, count = self.windows.get(key, (now, 0))
            if now >= ends:
                ends, count = now + self.seconds, 0
            if count >= self.most:
                return ends - now
            if counts:
                self.windows[key] = (ends, count + 1)
            return 0


# The same as "limits" in the fixture.
FAILED_LOOKUPS = Limiter(60, 3)
DEPOSIT_CHECKS = Limiter(250, 3)


def user_status(database, partner, key, user_id):
    is_valid = user_id is not None and USER_ID.fullmatch(user_id) is not None
    member = database.row(MEMBER, user_id, partner) if is_valid else None
    # Only failed lookups count: an invalid id, or a user who is not under the IB.
    wait = FAILED_LOOKUPS.wait(key, counts=member is None)
    if wait > 0:
        return too_many(wait, "Too many failed lookups. Please try again later.")
    if not is_valid:
        return 400, {"error": "Invalid user_id format"}, {}
    if member is None:
        return 200, {"is_under_ib": False, "date_joined": None}, {}
    date_joined = member[0].astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return 200, {"is_under_ib": True, "date_joined": date_joined}, {}


def deposit_check(database, partner, key, reference_id):
    wait = DEPOSIT_CHECKS.wait(key, counts=True)
    if wait > 0:
        return too_many(wait, "TOO_MANY_REQUESTS")
    if reference_id is None or REFERENCE_ID.fullmatch(reference_id) is None:
        return 400, {"error": "Invalid reference_id format"}, {}
    deposit = database.row(EXECUTED_DEPOSIT, reference_id, partner)
    # Unknown, of another IB, pending or failed: the same bytes, so that a caller cannot tell them apart.
    if deposit is None:
        return 404, {"error": "Deposit not found"}, {}
    amount, executed_at = deposit
    return 200, {"status": "EXECUTED", "amountInUsd": float(amount), "executedAt": executed_at}, {}


def too_many(wait, message):
    return 429, {"error": message}, {"Retry-After": str(math.ceil(wait))}


# By path: the parameter, the message of a 401 (they differ), and the function that answers.
ENDPOINTS = {
    "/api/ib/user-status": ("user_id", "Unauthorized", user_status),
    "/api/ib/deposit-check": ("reference_id", "UNAUTHORIZED", deposit_check),
}


def respond(database, target, authorization):
    """Status, body and header fields of the answer to a GET."""
    url = urlsplit(target)
    if url.path not in ENDPOINTS:
        return 404, {"error": "Not found"}, {}
    parameter, unauthorized, lookup = ENDPOINTS[url.path]
    bearer = re.fullmatch(r"Bearer ([!-~]+)", authorization or "")
    key = bearer and hashlib.sha256(bearer[1].encode()).hexdigest()
    caller = database.row(PARTNER_OF_KEY, key) if key else None
    if caller is None:
        return 401, {"error": unauthorized}, {"WWW-Authenticate": "Bearer"}
    [value] = parse_qs(url.query).get(parameter, [None])[:1]
    return lookup(database, caller[0], key, value)


class Handler(BaseHTTPRequestHandler):
    database = None
    protocol_version = "HTTP/1.1"
    # Sends head and body together. The body would otherwise wait up to 40 ms for an acknowledgement.
    wbufsize = -1

    def do_GET(self):
        if not self.skips_body():
            return self.send(400, {"error": "Bad request"}, {"Connection": "close"})
        try:
            answer = respond(self.database, self.path, self.headers.get("Authorization"))
        except Exception as error:
            self.log_error("%r", error)
            answer = 500, {"error": "Internal server error"}, {}
        self.send(*answer)

    do_HEAD = do_GET

    def skips_body(self):
        """Reads the body of a GET, so that it is not taken for the next request of the connection.

        If the body is long or of unknown length, the connection must end instead.
        """
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,4}", length):
            return False
        self.rfile.read(int(length))
        return True

    def not_allowed(self):
        # The body is not read, so the connection must end.
        self.send(405, {"error": "Method not allowed"}, {"Allow": "GET, HEAD", "Connection": "close"})

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = not_allowed

    def send(self, status, body, fields):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_request(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


def main():
    port = int(sys.argv[1])
    Handler.database = Connections(16)
    server = Server(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
