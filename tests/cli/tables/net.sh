#!/bin/sh
# C075 C076 C077 C078 C079 C080 C081 C082 C083 C133: network of the mock tree, no lo, no bridge.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
"$SOURCE/tests/cli/cells" out/*-????????????.csv vNetworkBytesRecvd vNetworkBytesSent \
    vNetworkPacketsRecvd vNetworkPacketsSent vNetworkErrorsRecvd vNetworkErrorsSent \
    vNetworkDropsRecvd vNetworkDropsSent
"$SOURCE/tests/cli/cells" out/*.interfaces.csv --all iIsCounted=1 iName | sort -u
