#!/bin/sh
# C117 C118 C119 C120 C121 C122 C123 C124 C129: columns of engines have the names users know, float64.
"$PITOT" schema | sed -n '/^engine (/,/^$/p' | awk '
    $1 ~ /^(system|cache|requests|tokens)_/ { print $1, $2, $3 }
    $1 ~ /^latency_/ { type[$3] = 1; sub(/_s_/, "_s ", $1); split($1, part, " ")
        if (!(part[1] in seen)) order[++n] = part[1]
        seen[part[1]] = seen[part[1]] " " part[2] }
    END { for (i = 1; i <= n; i++) print order[i] ":" seen[order[i]]; for (t in type) print t }'
