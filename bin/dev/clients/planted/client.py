"""A client of the interface and its tests, for sweep. BUG plants a bug. See check-sweep.ts."""
import http.client
import json
import os
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

URL, KEY = os.environ["IB_BASE_URL"], os.environ["IB_API_KEY"]
BUG, STYLE = os.environ.get("BUG", ""), os.environ.get("STYLE", "")


class Refused(Exception):
    pass


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener() if BUG == "redirect" else urllib.request.build_opener(NoRedirect)


def pause(headers, tries, status):
    own = 0.1 * 2**tries
    if BUG == "no-wait" or (BUG == "immediate-5xx" and status >= 500):
        return 0
    if BUG == "fixed":
        return 0.1
    after = headers.get("Retry-After") if headers else None
    if after is None or BUG == "own-pace":
        return own
    return float(after) if after.isdigit() else 2


def send(path, key):
    target = URL + path
    if BUG == "key-in-url":
        target += "&api_key=" + key
    headers = {"Authorization": "Bearer " + key}
    request = urllib.request.Request(target, headers=headers)
    if BUG == "print-headers":
        print("->", path, headers, file=sys.stderr)
    with opener.open(request, timeout=None if BUG == "no-timeout" else 1) as answer:
        return json.load(answer)


def get(path, key=KEY):
    for tries in range(5):
        headers, status = None, 0
        try:
            return send(path, key)
        except urllib.error.HTTPError as error:
            status, headers = error.code, error.headers
            if status == 404:
                return None
            final = status < 429 and BUG != "retry-everything"
            if status == 401 and BUG == "retry-401":
                final = False
            if status == 400 and BUG == "retry-400":
                final = False
            if status == 429 and (STYLE == "never" or BUG == "no-retry"):
                final = True
            if final or (tries == 4 and status < 429):
                if BUG == "log-401":
                    print("refused:", request_of(key))
                raise Refused(f"{status} {error.read().decode()}") from None
        except (OSError, http.client.HTTPException):
            if BUG == "no-retry-lost":
                raise
        if tries < 4:
            time.sleep(pause(headers, tries, status))
    raise TimeoutError("no answer")


def request_of(key):
    return {"Authorization": f"Bearer {key}"}


def member(user_id, key=KEY):
    value = user_id.replace(" ", "%20") if BUG == "unencoded" else urllib.parse.quote(user_id, safe="")
    return get("/api/ib/user-status?user_id=" + value, key)["is_under_ib"]


def deposit(reference_id):
    return get("/api/ib/deposit-check?reference_id=" + reference_id)


def wait_for(reference_id):
    found = None
    for _ in range(100 if BUG == "poll-fast" else 60):
        found = deposit(reference_id) or found
        if found and BUG != "poll-on":
            return found
        if found and _ > 9:
            return found
        time.sleep(0 if BUG == "poll-fast" else 0.03)
    raise TimeoutError("not executed")


def uuid(digit):
    return "dddddddd-dddd-4ddd-8ddd-dddddddddddd".replace("d", digit)


class ClientTest(unittest.TestCase):
    def test_members(self):
        self.assertIs(member(uuid("1")), True)
        self.assertIs(member(uuid("2")), False)

    def test_deposits(self):
        executed = {"status": "EXECUTED", "amountInUsd": 250.5, "executedAt": 1705314600000}
        self.assertEqual(deposit(uuid("4")), executed)
        self.assertIsNone(deposit(uuid("5")))

    def test_refusals(self):
        with self.assertRaisesRegex(Refused, "401"):
            member(uuid("1"), "nope")
        with self.assertRaisesRegex(Refused, "400"):
            member("a b&c")

    def test_polls(self):
        self.assertEqual(wait_for(uuid("7"))["amountInUsd"], 75.25)


if __name__ == "__main__":
    unittest.main()
