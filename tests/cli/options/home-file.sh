#!/bin/sh
# the file is looked for in ~/.config when XDG_CONFIG_HOME is not set; sections hold for a command.
mkdir -p .config/pitot
printf '# ours\n[record]\noutput = from-file\nformat = csv\nquiet = yes\n[export]\noutput = made\n' \
    >.config/pitot/pitot.conf
"$PITOT" -- true
"$SOURCE/tests/cli/names" from-file | grep '^UUID.csv'
"$PITOT" export -q -f tsv from-file
"$SOURCE/tests/cli/names" made | grep '^UUID.tsv'
