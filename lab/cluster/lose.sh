#!/bin/sh
# lose.sh HOST link|processes|power: a host of the cluster loses its link, its processes are killed, or both at once.
[ $# = 2 ] && [ -e "/run/$1.pid" ] || { echo "usage: lose.sh HOST link|processes|power" >&2; exit 2; }
echo "lose $1 $2" >/run/requests
