#!/bin/sh
# build.sh html|man SITE OUT VERSION [SKEIN]: the pages of SITE (this folder) as HTML or as manual pages skein-NAME(7) in
# OUT, by lowdown. The performance page is made from performance.csv; SKEIN draws its plots.
kind=$1 site=$2 out=$3 version=$4 skein=$5
date=$(sed -n 's/^\.Dd //p' "$site/../skein.1")
mkdir -p "$out" || exit 1

source_of() { # PAGE
    if [ "$1" = performance ]; then
        sh "$site/performance.sh" "$site/performance.csv"
    else
        cat "$site/$1.md"
    fi
}

nav() { # PAGE
    while read -r page title; do
        here=
        [ "$page" = "$1" ] && here=' aria-current="page"'
        printf '<li><a href="%s.html"%s>%s</a></li>\n' "$page" "$here" "${title%%  *}"
    done <"$site/pages"
}

html() { # PAGE: links to other pages become links to HTML; tables may be wider than a phone
    title=$(source_of "$1" | sed -n '1s/^# //p')
    cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title${1:+$([ "$1" = index ] || echo ' - Skein')}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header><a class="name" href="index.html">Skein</a> <span>$version</span></header>
<nav aria-label="Pages"><ul>
$(nav "$1")
</ul></nav>
<main id="main">
END
    source_of "$1" | lowdown -thtml |
        sed 's/href="\([a-z]*\)\.md\(#[^"]*\)\{0,1\}"/href="\1.html\2"/g
            s/<table>/<div class="table" tabindex="0"><table>/; s,</table>,</table></div>,; s/<th\( [^>]*\)\{0,1\}>/<th scope="col"\1>/'
    echo '</main></body></html>'
}

man() { # PAGE DESCRIPTION: its first heading is replaced by the one that whatis looks for
    source_of "$1" | sed '1s/^# .*//; s/\[\([^]]*\)\](\([a-z]*\)\.md)/\1 (**skein-\2**(7))/g; s/\[\([^]]*\)\](#[a-z]*)/\1/g; /^!\[/d; s/^##* \(.*\)/\n# \1\n/' |
        lowdown -s -tman -M "title=SKEIN-$(echo "$1" | tr a-z A-Z)" -M section=7 -M "date=$date" -M "source=Skein $version" |
        sed "0,/^\.TH.*/s//&\n.SH NAME\nskein-$1 \\\\- $2\n.SH DESCRIPTION/; s/\\\\fC/\\\\fB/g"
}

while read -r page title; do
    description=${title#*  }
    description=$(echo "$description" | sed 's/^ *//')
    if [ "$kind" = html ]; then
        html "$page" >"$out/$page.html" || exit 1
    elif [ "$page" != index ]; then
        man "$page" "$description" >"$out/skein-$page.7" || exit 1
    fi
done <"$site/pages"
[ "$kind" = html ] || exit 0
cp "$site/style.css" "$out" || exit 1
[ -z "$skein" ] || sh "$site/performance.sh" --plots "$site/performance.csv" "$skein" "$out"
