#!/bin/sh
# pitot schema names every column with kind, type, unit and meaning, and every figure.
"$PITOT" schema | grep -E "^(cpu|  vCpuTime |  vMemoryFree |  cId |  pName |figures|  own.cpu )" | tr -s " "
