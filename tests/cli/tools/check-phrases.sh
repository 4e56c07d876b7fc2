#!/bin/sh
# C360: foreign phrases are found in strings, comments and docs, across line breaks; plain ones are not.
command -v git >/dev/null || { echo "git is missing"; exit 77; }
git init -q .
mkdir -p src docs tests/fixtures
cat >src/bad.c <<'END'
/* Asks the dearest
 * collectors; there is no other way, and this is no longer slow. */
void f(void) {
    fail("'%s' is "
         "no size");
    fail("the ending says no format; known are %s");
}
END
cat >docs/BAD.md <<'END'
# Files

Taken is the first. One row a thing and sample, written
anew. The part taken is printed; values are told apart.
Pitot takes samples of a process and reads a run: 99 samples
a second, or so
many.
END
echo 'is no text of ours' >tests/fixtures/capture.txt
echo 'x is not a size (examples: 512k, 2G)' >docs/GOOD.md
git add .
code=0
"$SOURCE/tools/check-phrases" || code=$?
echo "exit code $code"
"$SOURCE/tools/check-phrases" --count
"$SOURCE/tools/check-phrases" docs/GOOD.md
