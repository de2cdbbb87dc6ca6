#!/bin/sh
# includes.sh: who may include whom, as the map of folders in doc/ARCHITECTURE.md says. Prints every
# include that breaks it.
cd "$(dirname "$0")/../.." || exit 1
awk '
BEGIN {
    may["sched"] = may["machine"] = may["graph"] = may["board"] = may["match"] = "base"
    may["fabric"] = "match board base"
    may["pattern"] = "graph machine base"
    may["exec"] = "sched machine base"
    may["cost"] = "pattern machine graph sched base"
    may["algo"] = "pattern graph machine sched base"
    may["select"] = may["report"] = "algo cost pattern graph machine sched base"
    may["mpi"] = "match board exec select report algo cost pattern graph machine sched base"
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    if (/<mpi(ext)?\.h>/ && FILENAME !~ /^src\/mpi\//) { print FILENAME ":" FNR ": " $0; bad = 1 }
    if (/<rdma\// && FILENAME !~ /^src\/fabric\//) { print FILENAME ":" FNR ": " $0; bad = 1 }
}
/^[ \t]*#[ \t]*include[ \t]*"[a-z_]+\// {
    split(FILENAME, at, "/")
    from = at[2]
    to = $0; sub(/^[^"]*"/, "", to); sub(/\/.*/, "", to)
    if (from != to && index(" " may[from] " ", " " to " ") == 0) {
        print FILENAME ":" FNR ": " from " may not include " to; bad = 1
    }
}
END { exit bad }' $(find src -name '*.[ch]' -o -name '*.def')
