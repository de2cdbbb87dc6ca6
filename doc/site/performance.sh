#!/bin/sh
# performance.sh CSV: the performance page, in Markdown, from what `skein bench --csv` wrote; CSV.machine says where.
# performance.sh --plots CSV SKEIN OUT: its pictures, plot-COLLECTIVE.svg in OUT.
collectives() { awk -F, 'NR > 1 && $4 > 0 && !seen[$3]++ { print $3 }' "$1"; }
if [ "$1" = --plots ]; then
    for coll in $(collectives "$2"); do
        "$3" bench --from="$2" --collective="$coll" --plot="$4/plot-$coll.svg" >/dev/null || exit 1
    done
    exit 0
fi
csv=$1
cat <<END
# Performance

What \`skein bench\` measured with Skein $(sed -n "s/^  version: '\(.*\)',/\1/p" "$(dirname "$csv")/../../meson.build") on
$(cat "$csv.machine"). The collectives of Skein and of the MPI alternate in one process, so that what disturbs one disturbs the
other; results are compared. This page is made from the file that \`--csv\` wrote:

\`\`\`
$(head -n 1 "$csv.command")
\`\`\`

A ratio above 1 means that Skein is faster: the time of the MPI divided by that of Skein, the median of many rounds; behind it the
range in which 80 % of the rounds lie. Time is that of a single call, from the first rank's entry to the last rank's exit. Your
machine has other numbers: run the same command there. The run was ended before
it was through with MPICH on more ranks than cores, where its waiting ranks never give their core away; those points are left out. Two cores of one small machine say nothing about a large cluster.
END
awk -F, '
    function size(b) { return b >= 1048576 ? b / 1048576 " MB" : b >= 1024 ? b / 1024 " KB" : b " B" }
    NR > 1 {
        t = $1 " " $2
        if (!(t in table)) { table[t] = ++tables; name[tables] = t }
        if (!((t, $3) in row)) { row[t, $3] = ++rows[t]; coll[t, rows[t]] = $3 }
        if (!($4 in column)) { column[$4] = ++columns; bytes[columns] = $4 }
        cell[t, $3, $4] = sprintf("%.2f (%.2f to %.2f)", $13, $14, $15)
    }
    END {
        title["openmpi"] = "Open MPI"; title["mpich"] = "MPICH"
        for (i = 1; i <= tables; i++) {
            split(name[i], part, " ")
            printf "\n## %s, %d ranks\n\n| collective |", title[part[1]], part[2]
            for (k = 1; k <= columns; k++) printf " %s |", (bytes[k] > 0 ? size(bytes[k]) : "no data")
            printf "\n|---|"
            for (k = 1; k <= columns; k++) printf "---|"
            printf "\n"
            for (r = 1; r <= rows[name[i]]; r++) {
                c = coll[name[i], r]
                printf "| %s |", c
                for (k = 1; k <= columns; k++) printf " %s |", cell[name[i], c, bytes[k]]
                printf "\n"
            }
        }
    }' "$csv"
printf '\n## Plots\n\n'
for coll in $(collectives "$csv"); do
    text=$(awk -F, -v coll="$coll" '$3 == coll && $4 > 0 { n++; if (!least || $13 < least) least = $13; if ($13 > most) most = $13 }
        END { printf "the MPI takes %.2f to %.2f times as long as Skein at the %d points measured", least, most, n }' "$csv")
    # shellcheck disable=SC2016
    printf '![Times of %s over the size: %s.](plot-%s.svg)\n\n' "$coll" "$text" "$coll"
done
