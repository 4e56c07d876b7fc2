#!/bin/sh
# C131: the mock trees hold the numbers their generator promises, the same in every cgroup layout.
for layout in v2 v1 hybrid; do
    echo "$layout"
    cd "$FIXTURES/$layout"
    grep -E '^(pgfault|pgmajfault) ' proc/vmstat
    awk '$3 == "sda" || $3 == "nvme0n1" { read += $6; written += $10 }
         END { print "sectors", read, written }' proc/diskstats
    awk '/^cpu[0-9]/ { user += $2 } /^cpu / { all = $2 } END { print "user", user, all }' proc/stat
    awk '/^ *eth/ { received += $2; sent += $10 }
         END { print "network", received, sent }' proc/net/dev
    sed -n 's/^Name:\t//p' proc/self/status
    docker=$(sed -n 's/^[0-9]*:[^:]*://p' proc/4002/cgroup | sort -u)
    find sys/fs/cgroup/ -path "*$docker/*" \( -name cpuacct.usage -o -name memory.current -o \
        -name memory.usage_in_bytes -o -name cpu.max -o -name cpu.cfs_quota_us \) |
        sort | while read -r file; do echo "${file##*/} $(cat "$file")"; done
done
