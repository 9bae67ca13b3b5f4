"""A state hook for test systems: `ib-conformance verify --state-url` changes the database through it.

    python3 state_hook.py 8090

Keep it out of the service: everyone who can call it can revoke keys.
libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE) choose the database.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import psycopg2

# By state and action. The placeholders are the params of the call.
CHANGES = {
    ("deposit executed", "setup"): """
        UPDATE deposits SET state = 'EXECUTED', amount_in_usd = %(amountInUsd)s, executed_at = %(executedAt)s
        WHERE reference_id = %(reference_id)s""",
    ("deposit executed", "teardown"): """
        UPDATE deposits SET state = 'pending', amount_in_usd = NULL, executed_at = NULL
        WHERE reference_id = %(reference_id)s""",
    ("key revoked", "setup"): """
        UPDATE api_keys SET state = 'revoked'
        WHERE key_sha256 = encode(sha256(convert_to(%(key)s, 'UTF8')), 'hex')""",
    ("key revoked", "teardown"): """
        UPDATE api_keys SET state = 'active'
        WHERE key_sha256 = encode(sha256(convert_to(%(key)s, 'UTF8')), 'hex')""",
}


class Handler(BaseHTTPRequestHandler):
    database = None

    def do_POST(self):
        try:
            call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            change = CHANGES[call["state"], call["action"]]
            with self.database.cursor() as cursor:
                cursor.execute(change, call["params"])
                # 2xx means done.
                status = 204 if cursor.rowcount == 1 else 404
        except (KeyError, TypeError, ValueError, psycopg2.Error) as error:
            self.log_error("%r", error)
            status = 400
        self.send_response(status)
        self.end_headers()

    def log_request(self, *_):
        pass


def main():
    Handler.database = psycopg2.connect("")
    Handler.database.autocommit = True
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
