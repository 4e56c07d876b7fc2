#!/bin/sh
# a row without its test, a wrong test and a missing row are found.
mkdir -p docs tests/cli
echo '# C001: yes' >tests/cli/one.sh
cat >docs/CAPABILITIES.md <<END
| id | what | state | tested by |
|---|---|---|---|
| C001 | it is tested | done | cli/one |
| C002 | it says so only | done | cli/one |
| C003 | nothing is named | done |  |
| C004 | a word that is not a state | soon |  |
END
"$SOURCE/tools/check-capabilities" >out || true
grep -v 'C[0-9]* has 0 rows' out
grep -c 'has 0 rows' out
