#!/bin/sh
# pitot schema names every column with kind, type, unit and meaning.
"$PITOT" schema | grep -E "^(cpu|  vCpuTime |  vMemoryFree |  cId |  pName )" | tr -s " "
