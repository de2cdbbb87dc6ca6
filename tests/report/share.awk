# share.awk: how much of a run was spent for the report, in parts of 100,000, from a callgrind file: the instructions in
# the source files that only work for it, with those of the C library called from there. Those of the host are left out:
# a rank waits in there.
function named(text, table,   id, rest) { # "(7) name" defines, "(7)" refers
    id = text
    sub(/\).*/, ")", id)
    rest = substr(text, length(id) + 2)
    if (rest != "")
        table[id] = rest
    return table[id]
}
function counts() {
    return at ~ /\/src\/(report\/[a-z_]+|mpi\/dispatch\/(observe|clocks|gathered|ending))\.[ch]$/
}
/^ob=/ { object = named(substr($0, 4), obj); next }
/^fl=/ { at = own = named(substr($0, 4), src); next }
/^f[ie]=/ { at = named(substr($0, 4), src); next }
/^cf[il]=/ { named(substr($0, 5), src); next }
/^cob=/ { callee = named(substr($0, 5), obj); next }
/^fn=/ { at = own; next }
/^calls=/ {
    to = callee != "" ? callee : object
    callee = ""
    getline
    if (counts() && to !~ /libskein|libmpi|libopen-|libuc|\/mca_|ld-linux/)
        sum += $2
    next
}
/^[-+*0-9]/ {
    all += $2
    if (counts())
        sum += $2
}
END { print sum ? int(1e5 * sum / all + 1) : "none" }
