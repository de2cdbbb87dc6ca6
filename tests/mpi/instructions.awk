# instructions.awk: what the library itself spends per call, from a callgrind file of so many calls after a
# warm-up: the instructions that stand in its source files, and those of the C library called from there.
# -v calls=N
# It goes by source file because callgrind loses track of who called whom where a function ends in a
# jump to another one.
#
# Not counted are host_progress.c, which the host calls from inside its own functions, `halve` of timeline.c,
# which is done now and then by the clock, and, with
# -v waits=1, waiting, which depends on the other rank: waiting.c, what it lets go on meanwhile (request.c, process.c),
# and the files that wait for the others to attach to a region (adopt.c, node_memory.c). With -v waits=2
# request.c counts, for calls that do not wait. There the
# file of the function decides, not that of the line: a polling loop is made of lines inlined from headers.
# A function that begins with such a line may be said to be of the header.

function named(text, table,   id, rest) { # "(7) name" defines, "(7)" refers
    id = text
    sub(/\).*/, ")", id)
    rest = substr(text, length(id) + 2)
    if (rest != "")
        table[id] = rest
    return table[id]
}
function counts() { # the line at hand is of the file `at`, in a function of the file `own`
    return at ~ /\/src\/[a-z_0-9\/]+\.(c|h|def)$/ && own !~ /\/host_progress\.c$/ &&
        !(own ~ /\/timeline\.c$/ && now ~ /^halve/) &&
        !(waits && own ~ /\/(waiting|process|adopt|node_memory)\.[ch]$/) &&
        !(waits == 1 && own ~ /\/request\.c$/)
}

/^ob=/ { object = named(substr($0, 4), obj); next }
/^fl=/ { at = own = named(substr($0, 4), src); next }
/^f[ie]=/ { at = named(substr($0, 4), src); next }
/^cf[il]=/ { named(substr($0, 5), src); next }
/^cob=/ { callee = named(substr($0, 5), obj); next }
/^fn=/ { at = own; now = named(substr($0, 4), functions); next }
/^cfn=/ { named(substr($0, 5), functions); next }
/^calls=/ {
    to = callee != "" ? callee : object
    callee = ""
    getline
    if (counts() && to !~ /libskein|libmpi|libopen-|libuc|\/mca_|ld-linux/)
        sum += $2
    next
}
/^[-+*0-9]/ && counts() { sum += $2; seen = 1 }
END {
    if (seen)
        printf "%.0f\n", sum / calls
    else
        print "none"
}
