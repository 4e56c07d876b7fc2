#!/bin/sh
# without rights the packages are not installed, the command that would do it is printed.
mkdir bin
printf '#!/bin/sh\necho 1000\n' >bin/id
printf '#!/bin/sh\nexit 1\n' >bin/sudo
printf '#!/bin/sh\necho gcc=installed\necho meson=installed\n' >bin/dpkg-query
chmod +x bin/*
PATH=$PWD/bin:$PATH "$SOURCE/tools/install-deps" build
