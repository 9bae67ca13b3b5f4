"""Checks that the limiter of the server in the given folder uses its data only under its lock."""

import sys

sys.path.insert(0, sys.argv[1])
from server import Limiter


class Watched(dict):
    def get(self, *arguments):
        assert limiter.lock.locked()
        return super().get(*arguments)

    def __setitem__(self, *arguments):
        assert limiter.lock.locked()
        super().__setitem__(*arguments)


limiter = Limiter(1, 3600)
limiter.windows = Watched()
waits = [limiter.wait(key, counts=True) > 0 for key in ("one", "one", "other")]
assert waits == [False, True, False], waits
print("ok")
