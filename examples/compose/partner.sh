#!/bin/sh
# A partner's program: polls a deposit until it is executed, and prints it. 404 means "not yet".
polls=1
until answer=$(wget -q -O - --header "Authorization: Bearer $IB_API_KEY" \
  "$IB_BASE_URL/api/ib/deposit-check?reference_id=$REFERENCE_ID"); do
  [ "$polls" -lt 10 ] || { echo "not executed after $polls polls" >&2; exit 1; }
  polls=$((polls + 1))
  sleep "$POLL_SECONDS"
done
echo "executed, seen by poll $polls: $answer"
