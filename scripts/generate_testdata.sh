#!/bin/sh
# Makes a mock procfs and sysfs with known numbers, for tests:
#
#     scripts/generate_testdata.sh DIR [v2|v1|hybrid]
#
# DIR/proc and DIR/sys are roots for --path.procfs and --path.sysfs. The word says how the cgroups
# are mounted (v2 when left out). The same containers use the same resources in all three:
#   v2      one hierarchy at sys/fs/cgroup, systemd names
#   v1      a hierarchy per controller, cgroupfs names
#   hybrid  cpu, cpuacct, blkio, cpuset on v1; memory and pids at sys/fs/cgroup/unified (v2)
#
# What tests may rely on (a tick is 1/100 s, a sector 512 bytes):
#
# cpu       4 CPUs; cpuN has N + 1 tenths of: user 10000, nice 100, system 5000, idle 200000,
#           iowait 1000, irq 50, softirq 150, steal 20, guest 40 ticks.
#           ctxt 123456789, btime 1700000000, processes 4242, 3 running, 1 blocked.
#           load 0.50 0.75 1.25. Frequencies 2000000 2200000 2400000 2600000 kHz: mean 2300 MHz.
#           L1d 32K, L1i 32K, L2 1024K per CPU, L3 16384K; 2 NUMA nodes (0-1, 2-3). uptime 10000 s
# memory    kB: total 16384000, free 4096000, available 8192000, buffers 512000, cached 3072000,
#           SReclaimable 256000, swap 2048000 of which 1536000 free.
#           So: used 8448000 kB, cached 3328000 kB, 50 %, swap used 512000 kB.
#           pgfault 1000000, pgmajfault 250 (999750 minor), pgpgin 400000, pgpgout 600000,
#           pswpin 10, pswpout 20, oom_kill 1
# disk      whole disks are sda and nvme0n1, together: 4000 reads, 6000 writes, 320000 sectors read
#           (163840000 bytes), 480000 written (245760000 bytes), 400 and 600 merged, 1100 ms
#           reading, 2400 ms writing, 3 in flight, 3000 ms busy, 3500 ms weighted.
#           Not to be counted: sda1 sda2 nvme0n1p1, loop0, ram0, dm-0 (on sda2), md0 (on nvme0n1p1).
# network   eth0 and eth1, together: received 6000000 bytes, 50000 packets, 3 errors, 8 drops;
#           sent 3000000 bytes, 25000 packets, 1 error, 2 drops.
#           Not to be counted: lo, docker0 (bridge), veth1a2b3c4 and veth5d6e7f8 (its ports).
# pressure  totals in us: cpu some 1000000; memory some 200000 full 100000; io some 3000000
#           full 1500000
# processes 1 systemd, 2 kthreadd, 4001 "we ird) (name" (proc/self), 4002 python3 (2 threads, in
#           docker) with child 4003 worker, 4004 server (in kubernetes), 4005 zombie, child of 4001.
#           Their numbers: the calls of process() below.
# docker    id d0c4...: pids 4002 4003; CPU 50 s = 30 s user + 20 s system; 1000 periods, 100 of
#           them throttled, 2.5 s in total; limit 2 CPUs; memory 1073741824, peak 1610612736, limit
#           2147483648, inactive file 73741824 (working set 1000000000), 1 OOM kill; read 4000000,
#           written 6000000 bytes; network received 700000, sent 300000 bytes
# kube      id 8e5a...: pid 4004; CPU 7 s = 4 s + 3 s; no CPU limit; memory 268435456, peak
#           402653184, no limit of its own but 536870912 on its pod; read 50000, written 70000
#           bytes; network received 90000, sent 40000 bytes
# self      the group of 4001: CPU 10 s = 6 s + 4 s, memory 134217728; no limit of its own, but
#           3 CPUs and 4294967296 bytes on user-1000.slice above it
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 DIR [v2|v1|hybrid]" >&2
    exit 2
fi
layout=${2:-v2}
case $layout in
v2 | v1 | hybrid) ;;
*) echo "$0: unknown layout '$layout'" >&2; exit 2 ;;
esac
mkdir -p "$1/proc" "$1/sys"
proc=$1/proc
sys=$1/sys

DOCKER_ID=d0c4e2f1a3b5968778695a4b3c2d1e0fd0c4e2f1a3b5968778695a4b3c2d1e0f
KUBE_ID=8e5a0b1c2d3e4f5061728394a5b6c7d88e5a0b1c2d3e4f5061728394a5b6c7d8
POD_UID=0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9

make_parent() {
    [ -d "${1%/*}" ] || mkdir -p "${1%/*}"
}

# put FILE: writes stdin.
put() {
    make_parent "$1"
    cat >"$1"
}

# line FILE TEXT
line() {
    make_parent "$1"
    echo "$2" >"$1"
}

# lines DIRECTORY NAME VALUE [NAME VALUE ...]: a one-line file per pair.
lines() {
    directory=$1
    shift
    while [ $# -gt 1 ]; do
        line "$directory/$1" "$2"
        shift 2
    done
}

link() {
    make_parent "$2"
    ln -sfn "$1" "$2"
}

# the machine

host_cpu() {
    put "$proc/stat" <<END
cpu  10000 100 5000 200000 1000 50 150 20 40 0
cpu0 1000 10 500 20000 100 5 15 2 4 0
cpu1 2000 20 1000 40000 200 10 30 4 8 0
cpu2 3000 30 1500 60000 300 15 45 6 12 0
cpu3 4000 40 2000 80000 400 20 60 8 16 0
intr 987654 9 0 0 0 42
ctxt 123456789
btime 1700000000
processes 4242
procs_running 3
procs_blocked 1
softirq 555555 1 2 3 4 5 0 6 7 0 8
END
    line "$proc/loadavg" '0.50 0.75 1.25 3/321 4242'
    line "$proc/uptime" '10000.00 38000.00'
    lines "$sys/devices/system/cpu" online 0-3 possible 0-3 present 0-3 offline ''
    : >"$proc/cpuinfo"
    for cpu in 0 1 2 3; do
        cpu_info $cpu >>"$proc/cpuinfo"
        cpu_sysfs $cpu
    done
}

cpu_info() {
    cat <<END
processor	: $1
vendor_id	: GenuineIntel
cpu family	: 6
model		: 85
model name	: Mock CPU @ 2.00GHz
stepping	: 7
cpu MHz		: $((2000 + 200 * $1)).000
cache size	: 16384 KB
physical id	: $(($1 / 2))
siblings	: 2
core id		: $(($1 % 2))
cpu cores	: 2
flags		: fpu sse4_2 avx2 avx512f
bogomips	: 4000.00

END
}

cpu_sysfs() {
    cpu=$sys/devices/system/cpu/cpu$1
    lines "$cpu/cpufreq" scaling_cur_freq $((2000000 + 200000 * $1)) scaling_min_freq 1000000 \
        scaling_max_freq 3000000 cpuinfo_max_freq 3000000 scaling_governor performance
    lines "$cpu/topology" physical_package_id $(($1 / 2)) core_id $(($1 % 2)) \
        thread_siblings_list "$1"
    cache "$cpu" 0 1 Data 32K "$1"
    cache "$cpu" 1 1 Instruction 32K "$1"
    cache "$cpu" 2 2 Unified 1024K "$1"
    cache "$cpu" 3 3 Unified 16384K 0-3
}

# cache CPU_DIRECTORY INDEX LEVEL TYPE SIZE CPUS
cache() {
    lines "$1/cache/index$2" level "$3" type "$4" size "$5" shared_cpu_list "$6" \
        coherency_line_size 64
}

host_memory() {
    put "$proc/meminfo" <<'END'
MemTotal:       16384000 kB
MemFree:         4096000 kB
MemAvailable:    8192000 kB
Buffers:          512000 kB
Cached:          3072000 kB
SwapCached:         1024 kB
Active:          6000000 kB
Inactive:        3000000 kB
Active(anon):    4000000 kB
Inactive(anon):   100000 kB
Active(file):    2000000 kB
Inactive(file):  2900000 kB
Unevictable:           0 kB
Mlocked:               0 kB
SwapTotal:       2048000 kB
SwapFree:        1536000 kB
Dirty:              2048 kB
Writeback:            64 kB
AnonPages:       4100000 kB
Mapped:           700000 kB
Shmem:            123000 kB
KReclaimable:     256000 kB
Slab:             400000 kB
SReclaimable:     256000 kB
SUnreclaim:       144000 kB
KernelStack:       16000 kB
PageTables:        48000 kB
CommitLimit:    10240000 kB
Committed_AS:    9000000 kB
VmallocTotal:   34359738367 kB
HugePages_Total:       8
HugePages_Free:        6
HugePages_Rsvd:        0
HugePages_Surp:        0
Hugepagesize:       2048 kB
Hugetlb:           16384 kB
END
    put "$proc/vmstat" <<'END'
nr_free_pages 1024000
nr_dirty 512
nr_writeback 16
numa_hit 9000000
numa_miss 1000
pgpgin 400000
pgpgout 600000
pswpin 10
pswpout 20
pgalloc_normal 7000000
pgfree 7100000
pgfault 1000000
pgmajfault 250
pgscan_kswapd 5000
pgscan_direct 300
pgsteal_kswapd 4000
pgsteal_direct 200
oom_kill 1
compact_stall 3
thp_fault_alloc 77
END
    lines "$sys/devices/system/node" online 0-1 has_cpu 0-1 has_memory 0-1 possible 0-1
    numa_node 0 0-1 '10 21'
    numa_node 1 2-3 '21 10'
    line "$sys/kernel/mm/transparent_hugepage/enabled" 'always [madvise] never'
}

# numa_node NUMBER CPUS DISTANCES
numa_node() {
    lines "$sys/devices/system/node/node$1" cpulist "$2" distance "$3"
    put "$sys/devices/system/node/node$1/meminfo" <<END
Node $1 MemTotal:        8192000 kB
Node $1 MemFree:         2048000 kB
Node $1 MemUsed:         6144000 kB
END
}

host_disks() {
    put "$proc/diskstats" <<'END'
   8       0 sda 1000 100 80000 500 2000 200 160000 1500 2 1800 2000 10 0 800 5 20 30
   8       1 sda1 600 60 48000 300 500 50 40000 400 0 600 700 0 0 0 0 0 0
   8       2 sda2 400 40 32000 200 1500 150 120000 1100 2 1200 1300 10 0 800 5 0 0
 259       0 nvme0n1 3000 300 240000 600 4000 400 320000 900 1 1200 1500 0 0 0 0 40 20
 259       1 nvme0n1p1 3000 300 240000 600 4000 400 320000 900 1 1200 1500 0 0 0 0 0 0
   7       0 loop0 77 0 1234 5 0 0 0 0 0 6 5 0 0 0 0 0 0
   1       0 ram0 11 0 88 1 11 0 88 1 0 2 2 0 0 0 0 0 0
 253       0 dm-0 440 0 32000 210 1650 0 120000 1150 2 1250 1360 0 0 0 0 0 0
   9       0 md0 3300 0 240000 0 4400 0 320000 0 0 0 0 0 0 0 0 0 0
END
    ata=pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0
    disk sda "$ata" 8:0 1000215216 1
    disk nvme0n1 pci0000:00/0000:00:05.0/nvme/nvme0 259:0 2000409264 0
    disk loop0 virtual 7:0 204800 0
    disk ram0 virtual 1:0 131072 0
    disk dm-0 virtual 253:0 500000000 1
    disk md0 virtual 9:0 2000400000 0
    lines "$sys/devices/$ata" model 'MOCK HDD 512' vendor ATA
    link ../.. "$sys/block/sda/device"
    lines "$sys/devices/pci0000:00/0000:00:05.0/nvme/nvme0" model 'Mock NVMe 1TB' serial S3R1AL
    link ../.. "$sys/block/nvme0n1/device"
    partition sda sda1 1 8:1 500000000
    partition sda sda2 2 8:2 500000000
    partition nvme0n1 nvme0n1p1 1 259:1 2000400000
    lines "$sys/block/dm-0/dm" name vg-root uuid LVM-mock
    line "$sys/block/md0/md/level" raid1
    line "$sys/block/loop0/loop/backing_file" /var/lib/image.img
    mkdir -p "$sys/block/dm-0/slaves" "$sys/block/md0/slaves" "$sys/block/sda/slaves" \
        "$sys/block/nvme0n1/slaves"
    link "../../../../$ata/block/sda/sda2" "$sys/block/dm-0/slaves/sda2"
    link ../../../../pci0000:00/0000:00:05.0/nvme/nvme0/block/nvme0n1/nvme0n1p1 \
        "$sys/block/md0/slaves/nvme0n1p1"
}

# disk NAME BUS MAJOR:MINOR SECTORS ROTATIONAL
disk() {
    real=$sys/devices/$2/block/$1
    lines "$real" dev "$3" size "$4" ro 0 removable 0
    lines "$real/queue" rotational "$5" logical_block_size 512 physical_block_size 4096 \
        scheduler '[none] mq-deadline'
    link "../devices/$2/block/$1" "$sys/block/$1"
    link "../../block/$1" "$sys/class/block/$1"
    link "../../block/$1" "$sys/dev/block/$3"
}

# partition DISK NAME NUMBER MAJOR:MINOR SECTORS
partition() {
    lines "$sys/block/$1/$2" partition "$3" dev "$4" size "$5"
    link "../../block/$1/$2" "$sys/class/block/$2"
    link "../../block/$1/$2" "$sys/dev/block/$4"
}

net_dev_title() {
    echo 'Inter-|   Receive                                                |  Transmit'
    printf ' face |%s|%s\n' 'bytes    packets errs drop fifo frame compressed multicast' \
        'bytes    packets errs drop fifo colls carrier compressed'
}

# net_dev NAME RECEIVED: BYTES PACKETS ERRORS DROPS, SENT: BYTES PACKETS ERRORS DROPS
net_dev() {
    printf '%6s: %7d %7d %4d %4d    0     0          0         0 %8d %7d %4d %4d' "$@"
    echo '    0     0       0          0'
}

host_net_dev() {
    net_dev_title
    net_dev lo          9000000 90000 0 0 9000000 90000 0 0
    net_dev eth0        5000000 40000 3 7 2500000 20000 1 2
    net_dev eth1        1000000 10000 0 1  500000  5000 0 0
    net_dev docker0      340000  3000 0 0  790000  7000 0 0
    net_dev veth1a2b3c4  300000  2500 0 0  700000  6000 0 0
    net_dev veth5d6e7f8   40000   500 0 0   90000  1000 0 0
}

# container_net_dev RECEIVED SENT
container_net_dev() {
    net_dev_title
    net_dev lo 1000 10 0 0 1000 10 0 0
    net_dev eth0 "$1" 6000 0 0 "$2" 2500 0 0
}

host_network() {
    link self/net "$proc/net"
    interface lo virtual 1 1 772 00:00:00:00:00:00 unknown 65536
    interface eth0 pci0000:00/0000:00:03.0 2 2 1 52:54:00:12:34:56 up 1500
    interface eth1 pci0000:00/0000:00:04.0 3 3 1 52:54:00:12:34:57 up 1500
    interface docker0 virtual 4 4 1 02:42:00:00:00:01 up 1500
    interface veth1a2b3c4 virtual 6 5 1 ce:00:00:00:00:01 up 1500
    interface veth5d6e7f8 virtual 8 7 1 ce:00:00:00:00:02 up 1500
    for name in eth0 eth1; do
        line "$sys/class/net/$name/speed" 10000
        link ../.. "$sys/class/net/$name/device"
    done
    line "$sys/class/net/docker0/bridge/bridge_id" 8000.024200000001
    for name in veth1a2b3c4 veth5d6e7f8; do
        link ../docker0 "$sys/class/net/$name/master"
        line "$sys/class/net/$name/brport/state" 3
    done
}

# interface NAME BUS IFINDEX IFLINK TYPE ADDRESS STATE MTU
interface() {
    lines "$sys/devices/$2/net/$1" ifindex "$3" iflink "$4" type "$5" address "$6" \
        operstate "$7" mtu "$8" flags 0x1003 carrier 1
    link "../../devices/$2/net/$1" "$sys/class/net/$1"
}

# pressure FILE SOME_TOTAL FULL_TOTAL
pressure() {
    put "$1" <<END
some avg10=1.50 avg60=0.75 avg300=0.25 total=$2
full avg10=0.50 avg60=0.25 avg300=0.05 total=$3
END
}

host_kernel() {
    line "$proc/version" 'Linux version 6.1.0-mock (mock@mock) (gcc 12.2.0) #1 SMP Mock 6.1.0-1'
    line "$proc/cmdline" 'BOOT_IMAGE=/vmlinuz-6.1.0-mock root=/dev/mapper/vg-root ro quiet'
    lines "$proc/sys/kernel" osrelease 6.1.0-mock ostype Linux version '#1 SMP Mock 6.1.0-1' \
        hostname mockhost domainname '(none)' pid_max 4194304 threads-max 127000 \
        perf_event_paranoid 2 kptr_restrict 1 task_delayacct 0 yama/ptrace_scope 1 \
        random/boot_id 11111111-2222-3333-4444-555555555555
    lines "$proc/sys/fs" file-nr '3200	0	9223372036854775807' nr_open 1048576
    lines "$proc/sys/vm" overcommit_memory 0 swappiness 60
    lines "$sys/devices/system/clocksource/clocksource0" current_clocksource tsc \
        available_clocksource 'tsc hpet acpi_pm'
    lines "$sys/class/dmi/id" product_uuid 33333333-4444-5555-6666-777777777777 \
        product_name 'Mock Server' sys_vendor 'Mock Inc.'
    pressure "$proc/pressure/cpu" 1000000 0
    pressure "$proc/pressure/memory" 200000 100000
    pressure "$proc/pressure/io" 3000000 1500000
    put "$proc/cgroups" <<'END'
#subsys_name	hierarchy	num_cgroups	enabled
cpuset	0	80	1
cpu	0	80	1
cpuacct	0	80	1
blkio	0	80	1
memory	0	80	1
pids	0	80	1
END
}

# cgroups

# Path of a group in a v2 hierarchy, where systemd names it.
v2_path_of() {
    case $1 in
    root)      ;;
    init)      echo /init.scope ;;
    users)     echo /user.slice ;;
    user)      echo /user.slice/user-1000.slice ;;
    self)      echo /user.slice/user-1000.slice/session-1.scope ;;
    dockers)   echo /system.slice ;;
    docker)    echo "/system.slice/docker-$DOCKER_ID.scope" ;;
    kubepods)  echo /kubepods.slice ;;
    burstable) echo /kubepods.slice/kubepods-burstable.slice ;;
    pod)       echo "$(v2_path_of burstable)/kubepods-burstable-pod$(
        echo "$POD_UID" | tr - _).slice" ;;
    kube)      echo "$(v2_path_of pod)/cri-containerd-$KUBE_ID.scope" ;;
    esac
}

# The same in v1 hierarchies, where the container runtimes do.
v1_path_of() {
    case $1 in
    dockers)   echo /docker ;;
    docker)    echo "/docker/$DOCKER_ID" ;;
    kubepods)  echo /kubepods ;;
    burstable) echo /kubepods/burstable ;;
    pod)       echo "/kubepods/burstable/pod$POD_UID" ;;
    kube)      echo "/kubepods/burstable/pod$POD_UID/$KUBE_ID" ;;
    *)         v2_path_of "$1" ;;
    esac
}

# Calls a function with each group: name, pids, CPU user and system (s), CPU limit (hundredths of a
# CPU or max), periods, throttled periods, throttled us, memory now, peak, limit (bytes or max),
# inactive file, OOM kills, bytes read from 8:0 and 259:0, bytes written to 8:0 and 259:0.
all_groups() {
    "$1" root      '2' 100 50 max 0 0 0 0 0 max 0 0 500000 700000 900000 1100000
    "$1" init      '1' 2 3 max 0 0 0 33554432 67108864 max 1048576 0 1000 0 2000 0
    "$1" users     '' 6 4 max 0 0 0 134217728 268435456 max 4194304 0 3000 0 4000 0
    "$1" user      '' 6 4 300 0 0 0 134217728 268435456 4294967296 4194304 0 3000 0 4000 0
    "$1" self      '4001 4005' 6 4 max 0 0 0 134217728 268435456 max 4194304 0 3000 0 4000 0
    "$1" dockers   '' 30 20 max 0 0 0 1073741824 1610612736 max 73741824 1 1000000 3000000 \
        2000000 4000000
    "$1" docker    '4002 4003' 30 20 200 1000 100 2500000 1073741824 1610612736 2147483648 \
        73741824 1 1000000 3000000 2000000 4000000
    "$1" kubepods  '' 4 3 max 0 0 0 268435456 402653184 max 18435456 0 50000 0 70000 0
    "$1" burstable '' 4 3 max 0 0 0 268435456 402653184 max 18435456 0 50000 0 70000 0
    "$1" pod       '' 4 3 max 0 0 0 268435456 402653184 536870912 18435456 0 50000 0 70000 0
    "$1" kube      '4004' 4 3 max 0 0 0 268435456 402653184 max 18435456 0 50000 0 70000 0
}

# pid_list 'PID PID ...': one per line; nothing if empty.
pid_list() {
    [ -z "$1" ] || printf '%s\n' $1
}

# v2_core DIRECTORY PIDS: what every group of a v2 hierarchy has, whatever the controllers.
v2_core() {
    pid_list "$2" | put "$1/cgroup.procs"
    printf 'populated 1\nfrozen 0\n' | put "$1/cgroup.events"
    line "$1/cgroup.type" domain
}

v2_cpu() {
    put "$1/cpu.stat" <<END
usage_usec $((($2 + $3) * 1000000))
user_usec $(($2 * 1000000))
system_usec $(($3 * 1000000))
nr_periods $5
nr_throttled $6
throttled_usec $7
nr_bursts 0
burst_usec 0
END
    pressure "$1/cpu.pressure" 70000 60000
    if [ "$4" = max ]; then
        lines "$1" cpu.max 'max 100000' cpu.weight 100
    else
        lines "$1" cpu.max "$(($4 * 1000)) 100000" cpu.weight 100
    fi
    lines "$1" cpuset.cpus '' cpuset.cpus.effective 0-3 cpuset.mems.effective 0-1
}

# v2_memory DIRECTORY NOW PEAK LIMIT INACTIVE_FILE OOM_KILLS
v2_memory() {
    lines "$1" memory.current "$2" memory.peak "$3" memory.max "$4" memory.high max memory.min 0 \
        memory.low 0 memory.swap.current 0 memory.swap.max max
    printf 'low 0\nhigh 0\nmax %d\noom %d\noom_kill %d\noom_group_kill 0\n' $(($6 * 5)) "$6" "$6" |
        put "$1/memory.events"
    put "$1/memory.stat" <<END
anon $(($2 / 2))
file $(($2 / 4))
kernel 4096000
kernel_stack 65536
pagetables 131072
sock 0
shmem 8192
file_mapped 65536
file_dirty 4096
file_writeback 0
inactive_anon 16384
active_anon $(($2 / 2 - 16384))
inactive_file $5
active_file 20480
slab_reclaimable 262144
slab_unreclaimable 131072
slab 393216
workingset_refault_anon 0
workingset_refault_file 12
pgfault 50000
pgmajfault 25
END
    pressure "$1/memory.pressure" 20000 10000
}

# v2_io DIRECTORY READ_8:0 READ_259:0 WRITTEN_8:0 WRITTEN_259:0
v2_io() {
    {
        echo "8:0 rbytes=$2 wbytes=$4 rios=100 wios=200 dbytes=0 dios=0"
        if [ "$3" -gt 0 ]; then
            echo "259:0 rbytes=$3 wbytes=$5 rios=300 wios=400 dbytes=0 dios=0"
        fi
    } | put "$1/io.stat"
    pressure "$1/io.pressure" 30000 20000
}

v2_pids() {
    lines "$1" pids.current "$(echo $2 | wc -w | tr -d ' ')" pids.max "$3" pids.peak 9
}

v2_group() {
    directory_v2=$sys/fs/cgroup$(v2_path_of "$1")
    v2_core "$directory_v2" "$2"
    v2_cpu "$directory_v2" "$3" "$4" "$5" "$6" "$7" "$8"
    shift 8
    v2_io "$directory_v2" "$6" "$7" "$8" "$9"
    if [ "$directory_v2" = "$sys/fs/cgroup" ]; then # the root has no limits and no memory.current
        rm -f "$directory_v2/cpu.max" "$directory_v2/cpu.weight" "$directory_v2/cgroup.type" \
            "$directory_v2/cgroup.events"
    else
        v2_memory "$directory_v2" "$1" "$2" "$3" "$4" "$5"
        v2_pids "$directory_v2" "$(cat "$directory_v2/cgroup.procs")" 512
    fi
}

# cpu, cpuacct, cpuset and blkio; memory and pids are apart because in the hybrid layout they are
# not on v1.
v1_cpu_and_io() {
    path=$(v1_path_of "$1")
    cpu=$sys/fs/cgroup/cpu,cpuacct$path
    pid_list "$2" | put "$cpu/cgroup.procs"
    quarter=$((($3 + $4) * 250000000))
    lines "$cpu" cpuacct.usage $((quarter * 4)) cpu.cfs_period_us 100000 cpu.shares 1024 \
        cpuacct.usage_percpu "$quarter $quarter $quarter $quarter" \
        cpu.cfs_quota_us "$([ "$5" = max ] && echo -1 || echo $(($5 * 1000)))"
    printf 'user %d\nsystem %d\n' $(($3 * 100)) $(($4 * 100)) | put "$cpu/cpuacct.stat"
    printf 'nr_periods %d\nnr_throttled %d\nthrottled_time %d\n' "$6" "$7" $(($8 * 1000)) |
        put "$cpu/cpu.stat"
    lines "$sys/fs/cgroup/cpuset$path" cpuset.cpus 0-3 cpuset.effective_cpus 0-3 cpuset.mems 0-1
    blkio=$sys/fs/cgroup/blkio$path
    pid_list "$2" | put "$blkio/cgroup.procs"
    pid_list "$2" | put "$sys/fs/cgroup/cpuset$path/cgroup.procs"
    shift 8
    for suffix in '' _recursive; do
        v1_blkio "$6" "$7" "$8" "$9" | put "$blkio/blkio.throttle.io_service_bytes$suffix"
        v1_blkio 100 300 200 400 | put "$blkio/blkio.throttle.io_serviced$suffix"
    done
}

# v1_blkio READ_8:0 READ_259:0 WRITTEN_8:0 WRITTEN_259:0
v1_blkio() {
    for device in "8:0 $1 $3" "259:0 $2 $4"; do
        set -- "$1" "$2" "$3" "$4" $device
        printf '%s Read %d\n%s Write %d\n' "$5" "$6" "$5" "$7"
        printf '%s Sync 0\n%s Async %d\n%s Discard 0\n%s Total %d\n' "$5" "$5" $(($6 + $7)) "$5" \
            "$5" $(($6 + $7))
    done
    echo "Total $(($1 + $2 + $3 + $4))"
}

NO_LIMIT_V1=9223372036854771712

v1_memory_and_pids() {
    memory=$sys/fs/cgroup/memory$(v1_path_of "$1")
    pids=$sys/fs/cgroup/pids$(v1_path_of "$1")
    pid_list "$2" | put "$memory/cgroup.procs"
    pid_list "$2" | put "$pids/cgroup.procs"
    lines "$pids" pids.current "$(echo $2 | wc -w | tr -d ' ')" pids.max 512
    shift 8
    limit=$3
    [ "$limit" != max ] || limit=$NO_LIMIT_V1
    lines "$memory" memory.usage_in_bytes "$1" memory.max_usage_in_bytes "$2" \
        memory.limit_in_bytes "$limit" memory.soft_limit_in_bytes $NO_LIMIT_V1 \
        memory.failcnt $(($5 * 5)) memory.memsw.usage_in_bytes "$1" memory.use_hierarchy 1
    printf 'oom_kill_disable 0\nunder_oom 0\noom_kill %d\n' "$5" | put "$memory/memory.oom_control"
    v1_memory_stat "$1" "$limit" "$4" | put "$memory/memory.stat"
}

# v1_memory_stat NOW LIMIT INACTIVE_FILE
v1_memory_stat() {
    for prefix in '' total_; do
        cat <<END
${prefix}cache $(($1 / 4))
${prefix}rss $(($1 / 2))
${prefix}mapped_file 65536
${prefix}shmem 8192
${prefix}swap 0
${prefix}pgfault 50000
${prefix}pgmajfault 25
${prefix}inactive_anon 16384
${prefix}active_anon $(($1 / 2 - 16384))
${prefix}inactive_file $3
${prefix}active_file 20480
END
        [ -n "$prefix" ] || echo "hierarchical_memory_limit $2"
    done
}

v1_links() {
    link cpu,cpuacct "$sys/fs/cgroup/cpu"
    link cpu,cpuacct "$sys/fs/cgroup/cpuacct"
}

# The v2 side of the hybrid layout: memory and pids.
hybrid_group() {
    group=$sys/fs/cgroup/unified$(v2_path_of "$1")
    v2_core "$group" "$2"
    if [ "$1" != root ]; then
        v2_pids "$group" "$2" 512
        shift 8
        v2_memory "$group" "$1" "$2" "$3" "$4" "$5"
    fi
}

# In the hybrid layout systemd names the groups in both kinds of hierarchy.
use_systemd_names_on_v1() {
    v1_path_of() {
        v2_path_of "$1"
    }
}

cgroups() {
    case $layout in
    v2)
        line "$sys/fs/cgroup/cgroup.controllers" 'cpuset cpu io memory hugetlb pids rdma misc'
        line "$sys/fs/cgroup/cgroup.subtree_control" 'cpuset cpu io memory pids'
        all_groups v2_group
        ;;
    v1)
        all_groups v1_cpu_and_io
        all_groups v1_memory_and_pids
        v1_links
        ;;
    hybrid)
        use_systemd_names_on_v1
        all_groups v1_cpu_and_io
        v1_links
        line "$sys/fs/cgroup/unified/cgroup.controllers" 'memory hugetlb pids'
        line "$sys/fs/cgroup/unified/cgroup.subtree_control" 'memory pids'
        all_groups hybrid_group
        ;;
    esac
}

# cgroup_lines GROUP: the text of proc/PID/cgroup.
cgroup_lines() {
    v1=$(v1_path_of "$1")
    v2=$(v2_path_of "$1")
    [ $layout = v2 ] || printf '%s\n' "5:blkio:${v1:-/}" "4:cpuset:${v1:-/}" \
        "3:cpu,cpuacct:${v1:-/}"
    [ $layout != v1 ] || printf '%s\n' "2:memory:${v1:-/}" "1:pids:${v1:-/}"
    [ $layout = v1 ] || echo "0::${v2:-/}"
}

mount_info() {
    cat <<'END'
22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
23 28 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
28 1 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw
29 28 8:1 / /boot rw,relatime shared:2 - ext4 /dev/sda1 rw
30 28 0:25 / /mnt/with\040blank rw,relatime shared:3 - tmpfs tmpfs rw
END
    if [ $layout = v2 ]; then
        echo '31 23 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:9 - cgroup2 cgroup2 rw'
        return
    fi
    echo '31 23 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755'
    controllers='cpu,cpuacct cpuset blkio'
    [ $layout = hybrid ] || controllers="$controllers memory pids"
    number=32
    for name in $controllers; do
        echo "$number 31 0:$number / /sys/fs/cgroup/$name rw shared:10 - cgroup cgroup rw,$name"
        number=$((number + 1))
    done
    [ $layout != hybrid ] ||
        echo "$number 31 0:$number / /sys/fs/cgroup/unified rw shared:11 - cgroup2 cgroup2 rw"
}

# processes

# process PID COMM STATE PPID GROUP THREADS UTIME STIME MINFLT MAJFLT STARTTIME VSIZE_KB RSS_PAGES
# READ_BYTES WRITE_BYTES VOLUNTARY NONVOLUNTARY COMMAND_LINE_WORDS...
# Children's times are half of utime and stime; pages have 4 KiB; PSS is half of RSS.
process() {
    pid=$1 comm=$2 state=$3 ppid=$4 group=$5 threads=$6 utime=$7 stime=$8 minflt=$9
    shift 9
    majflt=$1 starttime=$2 vsize_kb=$3 rss_pages=$4 read_bytes=$5 write_bytes=$6 voluntary=$7
    nonvoluntary=$8
    shift 8
    directory_pid=$proc/$pid
    mkdir -p "$directory_pid"
    if [ $# -gt 0 ]; then
        printf '%s\0' "$@" >"$directory_pid/cmdline"
    else
        : >"$directory_pid/cmdline"
    fi
    line "$directory_pid/comm" "$comm"
    stat_line "$pid" "$threads" "$utime" "$stime" | put "$directory_pid/stat"
    status_lines "$pid" | put "$directory_pid/status"
    line "$directory_pid/statm" \
        "$((vsize_kb / 4)) $rss_pages $((rss_pages / 4)) 100 0 $((vsize_kb / 8)) 0"
    put "$directory_pid/io" <<END
rchar: $((read_bytes * 2))
wchar: $((write_bytes * 2))
syscr: 1000
syscw: 500
read_bytes: $read_bytes
write_bytes: $write_bytes
cancelled_write_bytes: 0
END
    line "$directory_pid/schedstat" \
        "$(((utime + stime) * 10000000)) 5000000 $((voluntary + nonvoluntary))"
    cgroup_lines "$group" | put "$directory_pid/cgroup"
    line "$directory_pid/oom_score" 666
    smaps_rollup | put "$directory_pid/smaps_rollup"
    threads_of "$threads"
    namespaces "$group"
}

# stat_line ID THREADS UTIME STIME
stat_line() {
    echo "$1 ($comm) $state $ppid $pid $pid 0 -1 4194304 $minflt 0 $majflt 0 $3 $4" \
        "$(($3 / 2)) $(($4 / 2)) 20 0 $2 0 $starttime $((vsize_kb * 1024)) $rss_pages" \
        "18446744073709551615 4194304 4238788 140736466511168 0 0 0 0 4096 134217728 0 0 0 17" \
        "$((pid % 4)) 0 0 7 0 0 0 0 0 0 0 0 0 0"
}

status_lines() {
    namespace_pid=
    case $group in docker | kube) namespace_pid="	$(($1 - 4001))" ;; esac
    printf 'Name:\t%s\nUmask:\t0022\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\n' \
        "$comm" "$state" "$pid" "$1" "$ppid"
    printf 'TracerPid:\t0\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n'
    printf 'NStgid:\t%d%s\nNSpid:\t%d%s\n' "$pid" "$namespace_pid" "$1" "$namespace_pid"
    if [ "$rss_pages" -gt 0 ]; then
        printf 'VmPeak:\t%8d kB\nVmSize:\t%8d kB\n' $((vsize_kb + 1024)) "$vsize_kb"
        printf 'VmHWM:\t%8d kB\nVmRSS:\t%8d kB\n' $((rss_pages * 5)) $((rss_pages * 4))
        printf 'RssAnon:\t%8d kB\nRssFile:\t%8d kB\nRssShmem:\t%8d kB\nVmSwap:\t%8d kB\n' \
            $((rss_pages * 3)) "$rss_pages" 0 12
    fi
    printf 'Threads:\t%d\nCpus_allowed_list:\t0-3\n' "$threads"
    printf 'voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n' \
        "$voluntary" "$nonvoluntary"
}

smaps_rollup() {
    [ "$rss_pages" -gt 0 ] || return 0
    echo '00400000-7fffffffe000 ---p 00000000 00:00 0                          [rollup]'
    printf '%-16s%8d kB\n' Rss: $((rss_pages * 4)) Pss: $((rss_pages * 2)) \
        Pss_Anon: $((rss_pages * 3 / 2)) Pss_File: $((rss_pages / 2)) Pss_Shmem: 0 \
        Shared_Clean: "$rss_pages" Shared_Dirty: 0 Private_Clean: 0 \
        Private_Dirty: $((rss_pages * 3)) Swap: 12 SwapPss: 12 Locked: 0
}

# Threads share the work evenly; each has the context switches of the process file.
threads_of() {
    number=0
    while [ $number -lt "$1" ]; do
        thread=$((pid + number * 1000))
        line "$directory_pid/task/$thread/comm" "$comm"
        stat_line $thread "$threads" $((utime / $1)) $((stime / $1)) |
            put "$directory_pid/task/$thread/stat"
        status_lines $thread | put "$directory_pid/task/$thread/status"
        number=$((number + 1))
    done
}

# namespaces GROUP: containers have a network of their own.
namespaces() {
    case $1 in
    docker) container_net_dev 700000 300000 ;;
    kube)   container_net_dev 90000 40000 ;;
    *)      host_net_dev ;;
    esac | put "$directory_pid/net/dev"
    case $1 in
    docker) link 'net:[4026532500]' "$directory_pid/ns/net" ;;
    kube)   link 'net:[4026532600]' "$directory_pid/ns/net" ;;
    *)      link 'net:[4026531840]' "$directory_pid/ns/net" ;;
    esac
    mount_info | put "$directory_pid/mountinfo"
}

processes() {
    process 1 systemd S 0 init 1 200 300 5000 50 1 167936 3000 1048576 2097152 800 90 \
        /sbin/init splash
    process 2 kthreadd S 0 root 1 0 10 0 0 1 0 0 0 0 100 1
    process 4001 'we ird) (name' R 1 self 1 600 400 20000 5 100000 204800 10000 4096 8192 1500 150 \
        '/opt/we ird) (name' --token=hunter2 'two words'
    process 4002 python3 S 1 docker 2 2800 1900 700000 200 200000 8388608 200000 1000000 2000000 \
        40000 4000 python3 -m vllm.entrypoints.openai.api_server --port 8000
    process 4003 worker S 4002 docker 1 150 75 30000 10 250000 1048576 50000 3000000 4000000 \
        700 70 worker
    process 4004 server S 1 kube 1 400 300 9000 3 300000 524288 25000 50000 70000 600 60 \
        /srv/server --config /etc/server.conf
    process 4005 gone Z 4001 self 1 5 6 70 0 400000 0 0 0 0 1 0
    link 4001 "$proc/self"
    link self/mounts "$proc/mounts"
    put "$proc/4001/mounts" <<'END'
proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0
sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
/dev/mapper/vg-root / ext4 rw,relatime 0 0
/dev/sda1 /boot ext4 rw,relatime 0 0
tmpfs /mnt/with\040blank tmpfs rw,relatime 0 0
END
    put "$proc/4001/limits" <<'END'
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
END
}

host_cpu
host_memory
host_disks
host_kernel
cgroups
processes
host_network
echo "$layout tree in $1"
