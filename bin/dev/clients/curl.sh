#!/usr/bin/env bash
# A partner's client with curl. Arguments: URL, key, world. check-clients.ts has the expected output.
set -euo pipefail
url=$1 key=$2 world=$3
answer=$(mktemp -d)
trap 'rm -r "$answer"' EXIT

# Requests a path with a key; sets status, body and retry_after.
ask() {
  status=$(curl --silent --show-error --header "Authorization: Bearer ${2:-$key}" \
    --dump-header "$answer/headers" --output "$answer/body" --write-out '%{http_code}' "$url$1")
  body=$(cat "$answer/body")
  retry_after=$(tr -d '\r' <"$answer/headers" | sed -n 's/^retry-after: *//Ip')
}

# Moves the mock's clock forward, instead of a sleep.
wait_for() {
  curl --silent --show-error --fail --output /dev/null --header 'Content-Type: application/json' \
    --data "{\"seconds\": $1}" "$url/__admin/clock/advance?world=$world"
}

user='/api/ib/user-status?user_id=' deposit='/api/ib/deposit-check?reference_id='

ask "${user}11111111-1111-4111-8111-111111111111"
echo "valid user-status $status $body"
ask "${deposit}44444444-4444-4444-8444-444444444444"
echo "valid deposit-check $status $body"

ask "${user}x"
echo "invalid user-status $status $body"
ask "${deposit}00000000-0000-4000-8000-000000000000"
echo "invalid deposit-check $status $body"
ask "${user}11111111-1111-4111-8111-111111111111" nope
echo "invalid key $status $body"

for ((count = 0; count < 100; count++)); do
  ask "${user}00000000-0000-4000-8000-000000000000"
  [[ $status == 200 ]] || break
done
echo "limited after $count: $status $retry_after $body"
wait_for "$retry_after"
ask "${user}00000000-0000-4000-8000-000000000000"
echo "limited no more: $status $body"

polls=''
for ((count = 0; count < 10; count++)); do
  ask "${deposit}77777777-7777-4777-8777-777777777777"
  polls="$polls $status"
  [[ $status == 404 ]] || break
  wait_for 1
done
echo "polling$polls $body"
