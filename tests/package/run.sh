#!/bin/bash
# run.sh BUILD: an installation is whole, is what the packages expect, can be found by pkg-config and CMake,
# completes all commands and options, and goes without a trace. The recipes name the same version.
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)

# check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then ok "$name"; else fail "$name" "$(head -c 2000 "$tmp/log")"; fi
}
# check_with TOOL NAME COMMAND...
check_with() {
    local tool=$1
    shift
    if command -v "$tool" >/dev/null; then check "$@"; else skip "$1" "$tool is not installed"; fi
}

DESTDIR=$tmp/stage meson install -C "$build" --no-rebuild >"$tmp/log" 2>&1 || { fail install "$(tail -n 3 "$tmp/log")"; finish; }
skein=$(find "$tmp/stage" -path '*/bin/skein')
prefix=${skein%/bin/skein}
PATH=$prefix/bin:$PATH

# ---- versions ----
same_version() { # the words that a command prints are all the version
    local words
    words=$("$@") && [ -n "$words" ] && [ "$(printf '%s\n' $words | sort -u)" = "$version" ] || { echo "$words, not $version"; return 1; }
}
check version_of_the_command same_version sh -c 'skein version | grep -oE "[0-9]+\.[0-9]+\.[0-9]+"'
check version_of_the_header same_version sed -n 's/^#define SKEIN_VERSION  *"\(.*\)"/\1/p' include/skein.h
check version_in_debian same_version sed -n '1s/^skein (\(.*\)-.*/\1/p' debian/changelog
check version_in_spack same_version sed -n 's/^    version("\([^"]*\)".*/\1/p; s/.*skein-\([0-9.]*\)\.tar.*/\1/p' packaging/spack/package.py
check version_in_easybuild same_version sh -c 'sed -n "s/^version = .\([0-9.]*\).$/\1/p" packaging/easybuild/*.eb
    ls packaging/easybuild | sed "s/^skein-\([0-9.]*\)-.*/\1/"'
check version_of_the_modules same_version sh -c 'ls "$1/share/modulefiles/skein" | sed "s/\.lua$//"' - "$prefix"

# ---- files ----
# Every file that is installed is in a package, and every file of a package is installed. Packages move
# completion and module files; Debian's MPIs have no library for simulation.
in_packages() {
    local status=0 file line
    while IFS= read -r file; do
        case $file in
        share/modulefiles/* | share/zsh/* | */libskein-smpi.a | */*skein-abi.*) continue ;;
        lib/lib*) file=lib/any/skein/${file#lib/} ;;
        lib/*) file=lib/any/${file#lib/} ;;
        esac
        while read -r line _; do
            # shellcheck disable=SC2254
            case usr/$file in $line | $line/*) continue 2 ;; esac
        done < <(cat debian/*.install)
        echo "in no package: $file"
        status=1
    done < <(cd "$prefix" && find . -type f -o -type l | sed 's,^\./,,')
    while read -r line; do
        line=${line##*/}
        [ -n "$(find "$prefix" -name "$line")" ] || { echo "not installed: $line"; status=1; }
    done < <(grep -hoE '[^/]+\.(so|h)$|skein-[a-z-]+$' debian/*.install)
    return $status
}
check installed_files_are_in_packages in_packages
filled_in() { ! grep -rnE '@[A-Z_]+@' "$prefix/share/modulefiles" "$prefix/lib/pkgconfig" "$prefix/lib/cmake"; }
check templates_are_filled_in filled_in

# ---- pkg-config, CMake ----
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
check_with pkg-config pkg_config same_version pkg-config --modversion skein
check_with pkg-config pkg_config_finds_the_library sh -c 'ls "$(pkg-config --variable=preload skein)"'
cat >"$tmp/a.c" <<'END'
#include <skein.h>
#include <string.h>
int main(void) { return strcmp(SKEIN_VERSION, VERSION); }
END
uses_the_header() { # FLAG...
    cc "$@" "-DVERSION=\"$version\"" "$tmp/a.c" -o "$tmp/a" && "$tmp/a"
}
# shellcheck disable=SC2046
check_with pkg-config pkg_config_finds_the_header uses_the_header $(pkg-config --cflags skein)
mkdir "$tmp/project"
cat >"$tmp/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.10)
project(a C)
find_package(skein $version REQUIRED)
add_executable(a ../a.c)
target_compile_definitions(a PRIVATE VERSION="$version")
target_link_libraries(a skein::headers)
if(NOT EXISTS "\${skein_PRELOAD}")
  message(FATAL_ERROR "no \${skein_PRELOAD}")
endif()
foreach(mpi openmpi mpich)
  if(EXISTS "$prefix/lib/libskein-\${mpi}.so" AND NOT TARGET skein::\${mpi})
    message(FATAL_ERROR "no target skein::\${mpi}")
  endif()
endforeach()
END
cmake_works() {
    cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$tmp/project/build" && "$tmp/project/build/a"
}
check_with cmake cmake_finds_skein cmake_works
cmake_refuses() {
    sed -i "s/find_package(skein $version/find_package(skein 99.0/" "$tmp/project/CMakeLists.txt"
    ! cmake -S "$tmp/project" -B "$tmp/project/other" -DCMAKE_PREFIX_PATH="$prefix"
}
check_with cmake cmake_refuses_another_version cmake_refuses

# ---- completion ----
# The options of a command, as it prints them.
options() { skein "$@" --help | grep -oE -- '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'; }
commands() { skein --help | sed -n 's/^  \([a-z]*\) .*/\1/p'; }
offered() { # WANTED COMPLETED
    local missing
    [ -n "$1" ] || { echo "nothing was wanted"; return 1; }
    missing=$(comm -23 <(sort -u <<<"$1") <(sort -u <<<"$2"))
    [ -z "$missing" ] || { echo "not offered:" $missing; return 1; }
}
in_bash() { # WORD...: what the last one may become
    bash -c '. "$0" && COMP_WORDS=(skein "$@") COMP_CWORD=$# && _skein && printf "%s\n" "${COMPREPLY[@]}"' \
        "$prefix/share/bash-completion/completions/skein" "$@" | sed 's/=$//'
}
in_zsh() { # as it hands candidates to zsh
    zsh -fc '_describe() { print -l -- "${list[@]%%:*}"; }
        autoload_file=$1; shift; words=(skein "$@"); CURRENT=$#words; PREFIX=$words[-1]; . $autoload_file' \
        - "$prefix/share/zsh/site-functions/_skein" "$@"
}
for shell in bash zsh; do
    if ! command -v $shell >/dev/null; then
        skip "completion_in_$shell" "$shell is not installed"
        continue
    fi
    check "${shell}_offers_all_commands" offered "$(commands)" "$(in_$shell '')"
    for command in $(commands) "bench match" "bench neighbor" "explain neighbor"; do
        case $command in help | version) continue ;; esac
        # shellcheck disable=SC2086
        check "${shell}_offers_all_options_of_${command/ /_}" offered "$(options $command)" "$(in_$shell $command --)"
    done
    check "${shell}_offers_collectives" offered "$(printf '%s\n' neighbor allreduce exscan)" "$(in_$shell explain '')"
done

# ---- recipes ----
check recipes_in_python python3 -c 'import ast, glob; [ast.parse(open(f).read(), f) for f in
    ["packaging/spack/package.py"] + glob.glob("packaging/easybuild/*.eb")]'
check scripts_in_bash bash -n packaging/completion/skein.bash debian/tests/user
check scripts_in_sh sh -n scripts/deb.sh scripts/dist.sh scripts/uninstall.sh
container_scripts() {
    sed -n '/^%post/,/^%test/{/^%/!p}' packaging/container/skein.def | sh -n &&
        sed -n '/^RUN/,/[^\\]$/p' packaging/container/Dockerfile | sed 's/^RUN//' | sh -n
}
check scripts_of_containers container_scripts
lua() { cp "$prefix/share/modulefiles/skein/$version.lua" "$tmp/a.lua" && luac5.3 -p "$tmp/a.lua"; }
check_with luac5.3 module_in_lua lua
module() { # the commands of a module file do nothing
    printf '%s\n' 'foreach c {module-whatis conflict setenv prepend-path} { proc $c args {} }' \
        "source $prefix/share/modulefiles/skein/$version" | tclsh
}
check_with tclsh module_in_tcl module
if git rev-parse HEAD >/dev/null 2>&1; then
    dist() {
        local tarball
        tarball=$(scripts/dist.sh "$tmp/dist") && tar -tf "$tarball" | grep -v '/$' | sed "s,^skein-$version/,," | sort >"$tmp/packed" &&
            git ls-tree -r --name-only HEAD | sort | cmp - "$tmp/packed"
    }
    check dist_has_every_file dist
else
    skip dist_has_every_file "this is no checkout"
fi

# ---- uninstall ----
touch "$prefix/bin/other"
uninstalls() {
    scripts/uninstall.sh "$build" "$tmp/stage" && [ "$(find "$tmp/stage" -type f -o -type l)" = "$prefix/bin/other" ] &&
        rm "$prefix/bin/other" && scripts/uninstall.sh "$build" "$tmp/stage" && [ ! -e "$tmp/stage" ] || { find "$tmp/stage"; false; }
}
check uninstall_leaves_nothing uninstalls
finish
