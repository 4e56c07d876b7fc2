#!/bin/sh
# The page of a run is one file that holds its data as JSON, beside the journal or where -o says.
if "$PITOT" report . 2>&1 | grep -q "no report page"; then
    echo "built without npm"
    exit 77
fi
"$PITOT" -q -o run -t 10 -d 100ms -f csv --report --tag name='</script>' -- true
"$PITOT" report run -o page.html 2>/dev/null
cat >check.py <<'END'
import json, re, sys
page = open(sys.argv[1], encoding='utf-8').read()
text = re.search(r'<script id="report-data" type="application/json">(.*?)</script>', page, re.S)[1]
data = json.loads(text, parse_constant=lambda name: sys.exit(name + ' is not JSON'))
print(data['format'], data['run']['is_complete'], data['run']['samples'] > 1)
print([table['name'] for table in data['tables'][:3]], 'CPU' in [c['title'] for c in data['cards']])
print(re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page))
END
python3 check.py page.html
python3 check.py run/*.html
