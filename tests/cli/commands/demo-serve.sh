#!/bin/sh
# C125: pitot demo --serve answers curl, counts what it answered, and ends with SIGTERM.
command -v curl >/dev/null || { echo "no curl here"; exit 77; }
"$PITOT" doctor --json | grep -q "is not installed" && { echo "no HTTP modules"; exit 77; }
mkfifo address
"$PITOT" demo --serve --threads 1 >address &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
exec 3<address
read -r url <&3
echo "$url" | tr -d 0-9

order='{"prompt": "the cat", "max_tokens": 5, "ignore_eos": true, "stream": true}'
curl -sS -N "$url/v1/completions" -d "$order" >events
grep -c '"finish_reason":null' events
grep -o '"usage":{.*}' events | tr -d '}'
tail -n 2 events
curl -sS -o /dev/null -w '%{http_code}\n' "$url/v1/completions" -d '{"prompt": '
curl -sS -o /dev/null -w '%{http_code}\n' -H 'Host: evil.example' "$url/metrics"
curl -sS "$url/metrics" >metrics
grep -E '^vllm:(prompt|generation)_tokens_total|_(first_token|token_latency)_seconds_count' metrics
if command -v promtool >/dev/null; then
    promtool check metrics <metrics >problems 2>&1 || [ $? = 3 ] || cat problems
fi
kill $server
wait $server
