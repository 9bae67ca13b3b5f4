#!/usr/bin/env bash
# Sends requests with curl. Argument: URL. Reads lines: a path, a key, and a JSON body if it is a POST.
# Prints a line for each answer: its body, status and Retry-After.
set -euo pipefail
while read -r path key body; do
  post=()
  [[ $body == '' ]] || post=(--header 'Content-Type: application/json' --data "$body")
  curl --silent --show-error --header "Authorization: Bearer $key" "${post[@]}" \
    --write-out ' %{http_code} %header{retry-after}\n' "$1$path"
done
