"""Sends requests with Python's urllib. curl.sh says what it reads and prints."""

import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

for line in sys.stdin:
    path, key, *body = line.split()
    request = Request(sys.argv[1] + path, headers={"Authorization": f"Bearer {key}"})
    if body:
        request.data = body[0].encode()
        request.add_header("Content-Type", "application/json")
    try:
        answer = urlopen(request, timeout=30)
    except HTTPError as error:
        answer = error
    with answer:
        print(answer.read().decode(), answer.status, answer.headers.get("Retry-After", ""), flush=True)
