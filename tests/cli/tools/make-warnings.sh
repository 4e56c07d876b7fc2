#!/bin/sh
# a warning does not stop the build of a user; make check and WERROR=true make warnings errors.
command -v make >/dev/null || { echo "make is missing"; exit 77; }
unset WERROR
for target in all demo install dist deb python; do
    make -n -B -C "$SOURCE" "$target" MESON=meson | grep -oE 'meson setup build .*|werror=true' || true
done
WERROR=true make -n -B -C "$SOURCE" all MESON=meson | grep -o 'meson setup build .*'
make -n -B -C "$SOURCE" check MESON=meson | grep -oE '[^ ]* -Dwerror=true'
