#!/bin/sh
# pitot doctor says what there is, exits with 0, 1 or 2, and --json says the same.
"$PITOT" doctor >text && code=0 || code=$?
"$PITOT" doctor --json >json && json_code=0 || json_code=$?
[ $code = $json_code ] && [ $code -le 1 ] && echo "the same exit code"
/usr/bin/python3 - <<'END'
import json
checks = json.load(open('json'))['checks']
text = open('text').read()
assert all(check['title'] in text for check in checks)
assert all(check['state'] == 'ok' or check['remedy'] for check in checks), 'a remedy for each'
print(checks[0]['id'])
END
tr -d -c '\033' <text | wc -c
