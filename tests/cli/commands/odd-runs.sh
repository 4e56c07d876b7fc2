#!/bin/sh
# C018: a run that is empty, cut off or of another kind is refused with words, by every command.
odd() {
    mkdir -p "$1"
    "$2" "$1/00000000-0000-4000-8000-000000000001$3"
}
empty() { : > "$1"; }
garbage() { printf 'not a journal, and longer than any header of one would be\n' > "$1"; }
ring_of_empty() { mkdir "$1"; : > "$1/00000001.pitot"; }
ring_of_garbage() { mkdir "$1"; garbage "$1/00000001.pitot"; }
ring_of_directory() { mkdir -p "$1/00000001.pitot"; }
ring_of_others() { mkdir "$1"; : > "$1/notes.txt"; }
ring_of_link() { mkdir "$1"; ln -s nowhere "$1/00000001.pitot"; }

odd 1-nothing true .none
odd 2-empty-ring mkdir .ring
odd 3-ring-file empty .ring
odd 4-ring-of-empty ring_of_empty .ring
odd 5-ring-of-garbage ring_of_garbage .ring
odd 6-ring-of-directory ring_of_directory .ring
odd 7-ring-of-others ring_of_others .ring
odd 8-ring-of-link ring_of_link .ring
odd 9-empty empty .pitot
odd a-garbage garbage .pitot
odd b-directory mkdir .pitot
odd c-fifo mkfifo .pitot

# The code of a command that ended by a signal is above 128, that of time is up 124.
run() {
    code=0
    timeout 20 "$PITOT" "$@" > out 2> err || code=$?
    case $code in
    1 | 2) test -s err ;;
    *) echo "pitot $*: $code: $(cat err)" ;;
    esac
}
for place in [0-9a-z]-*; do
    for command in report merge export explain energy 'top -n 1'; do
        # shellcheck disable=SC2086 # a command with its option
        run $command "$place"
    done
    run diff "$place" "$place"
    run merge "$place" "$place"
    run export -f csv "$place"
    run explain --json "$place"
done
