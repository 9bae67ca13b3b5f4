"""A partner's client with Python's urllib. Arguments: URL, key, world. check-clients.ts has the expected output."""

import json
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

url, key, world = sys.argv[1:]
USER = "/api/ib/user-status?user_id="
DEPOSIT = "/api/ib/deposit-check?reference_id="
NOBODY = "00000000-0000-4000-8000-000000000000"


def ask(path, with_key=key):
    request = Request(url + path, headers={"Authorization": f"Bearer {with_key}"})
    try:
        with urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def wait_for(seconds):
    """Moves the mock's clock forward, instead of a sleep."""
    body = json.dumps({"seconds": seconds}).encode()
    request = Request(
        f"{url}/__admin/clock/advance?world={world}", data=body, headers={"Content-Type": "application/json"}
    )
    urlopen(request, timeout=30).close()


def show(what, path, with_key=key):
    status, _, body = ask(path, with_key)
    print(what, status, body)


show("valid user-status", USER + "11111111-1111-4111-8111-111111111111")
show("valid deposit-check", DEPOSIT + "44444444-4444-4444-8444-444444444444")

show("invalid user-status", USER + "x")
show("invalid deposit-check", DEPOSIT + NOBODY)
show("invalid key", USER + "11111111-1111-4111-8111-111111111111", "nope")

count = 0
status, headers, body = ask(USER + NOBODY)
while status == 200 and count < 100:
    count += 1
    status, headers, body = ask(USER + NOBODY)
retry_after = headers["Retry-After"]
print(f"limited after {count}:", status, retry_after, body)
wait_for(int(retry_after))
show("limited no more:", USER + NOBODY)

polls = []
while len(polls) < 10:
    status, _, body = ask(DEPOSIT + "77777777-7777-4777-8777-777777777777")
    polls.append(str(status))
    if status != 404:
        break
    wait_for(1)
print("polling", *polls, body)
