#!/bin/sh
# an include that the table of rooms does not allow, and a file name used twice, are named with file and line.
command -v git >/dev/null || { echo "git is missing"; exit 77; }
git init -q .
mkdir -p docs src/base src/model src/source/gpu
cat >docs/ARCHITECTURE.md <<END
| room | what it holds | may include |
|---|---|---|
| \`base\` | bytes | |
| \`model\` | tables | base sink |
| \`source/gpu\` | devices | base |
END
touch src/base/buf.h src/model/table.h src/source/gpu/table.h
printf '%s\n' '#include "model/table.h"' '#include "buf.h"' '#include <stdio.h>' >src/base/buf.c
printf '%s\n' '#include "base/buf.h"' '#include "base/gone.h"' >src/model/table.c
printf '%s\n' '#include "base/buf.h"' '#include "model/table.h"' >src/source/gpu/device.c
git add .
"$SOURCE/tools/check-layers"
