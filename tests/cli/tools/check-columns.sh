#!/bin/sh
# C314: tools/check-columns finds columns named outside their file.
command -v git >/dev/null || { echo "git is missing"; exit 77; }
git init -q .
mkdir -p src/collect src/report web tools
cat >src/collect/load.c <<'END'
#define LOAD_COLUMNS(X, t)                                        \
    X(t, one, "vLoad", GAUGE, F64, NONE, 0, "Load, as in vLoad5", \
      .title = "Load")                                            \
    X(t, five, "vLoad5", GAUGE, F64, NONE, 0, "Longer")
PT_TABLE(load, PT_TABLE_MAIN("cpu"), "Load", LOAD_COLUMNS, "/proc/loadavg");
END
cat >src/report/page.c <<'END'
/* "vLoad" in a comment is fine, and so is vLoadAverage or "load" alone. */
static const char *const shown[] = { "vLoad", "vLoadAverage", "load" };
static const struct name names[] = { { "load", "five" }, { "cpu", "five" } };
END
echo "const list = ['vLoad5']; // vLoad" >web/list.js
git add .
"$SOURCE/tools/check-columns" || echo "exit $?"
echo "" >web/list.js
echo 'static const char *const shown[] = { "vLoadAverage", "load" };' >src/report/page.c
"$SOURCE/tools/check-columns"
