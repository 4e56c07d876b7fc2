#!/bin/sh
# an include that the layer table does not allow is named with its file and line.
command -v git >/dev/null || { echo "git is missing"; exit 77; }
git init -q .
mkdir -p docs src/base src/model
cat >docs/ARCHITECTURE.md <<END
| layer | what it holds | may include |
|---|---|---|
| \`base\` | bytes | |
| \`model\` | tables | base sink |
END
touch src/base/buf.h src/model/table.h
printf '%s\n' '#include "model/table.h"' '#include "buf.h"' '#include <stdio.h>' >src/base/buf.c
printf '%s\n' '#include "base/buf.h"' '#include "base/gone.h"' >src/model/table.c
git add .
"$SOURCE/tools/check-layers"
