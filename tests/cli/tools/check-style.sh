#!/bin/sh
# banned calls, raw memory, absolute kernel paths, missing heads and unlisted tests are found; comments are not.
command -v git >/dev/null || { echo "git is missing"; exit 77; }
git init -q .
mkdir -p src/model src/base tests/unit
echo "unit_tests = ['built']" >tests/unit/meson.build
touch tests/unit/built_test.c tests/unit/forgotten_test.c
cat >src/model/bad.c <<'END'
/* malloc(3) and strcpy(3) may be spoken of */
void f(void) {
    x->free(malloc(pt_free(p)));
    g("atoi(", sprintf(h));
    openat(0,
           "/proc/meminfo", 0);
    fopen("a", "r");
}
END
echo 'void *p = malloc(1);' >src/base/mem.c
echo '#define X' >src/model/bad.h
git add .
"$SOURCE/tools/check-style"
