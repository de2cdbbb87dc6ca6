#!/bin/bash
# fresh.sh SUITE: the Debian packages of the last commit, built here, checked by lintian, installed in a new root
# of this suite and used there by a new user (debian/tests/user), with Environment Modules and with Lmod. They
# are installed as the recipe of the Apptainer image does. Needs root and debootstrap; runs with LONG=1.
suite=$1
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
name=packages_on_$suite
if [ -z "${LONG:-}" ]; then
    skip "$name" "LONG=1 runs it"
    finish
fi
if ! grep -q "VERSION_CODENAME=$suite" /etc/os-release || ! git rev-parse HEAD >/dev/null 2>&1; then
    skip "$name" "this is not $suite, or no checkout of Skein"
    finish
fi
if ! changes=$(scripts/deb.sh "$tmp/dist" 2>"$tmp/log"); then
    fail builds "$(tail -n 20 "$tmp/log")"
    finish
fi
ok builds
if lintian --allow-root --fail-on error,warning "$changes" >"$tmp/log" 2>&1; then
    ok lintian
else
    fail lintian "$(cat "$tmp/log")"
fi

# shellcheck disable=SC2016
tar -C "$tmp/dist" -cf - $(cd "$tmp/dist" && ls | grep '\.deb$' | grep -v dbgsym) |
    LONG='' ROOTS=$tmp/roots scripts/root.sh "$suite" bash -c '
    exec 3>&1 >&2
    mkdir /packages && tar -xf - -C /packages || exit
    exec </dev/null
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get install -y --no-install-recommends"
    cp -r /packages /more && sed -n "/^%post/,/^%test/{/^%/!p}" packaging/container/skein.def | sh -ex || exit
    apt-get update && $install /more/*.deb mpich libmpich-dev pkg-config man-db bash-completion environment-modules procps || exit
    useradd -m user
    su user -c "cp $PWD/debian/tests/user /home/user && cd && ./user" >&3
    echo "# with Lmod" >&3
    $install lmod && apt-get purge -y environment-modules
    su user -c "bash -lc \"module load skein && module whatis skein && echo \\\$LIBSKEIN && man -P cat skein >/dev/null && skein version\"" &&
        echo lmod loads >&3
    apt-get purge -y "*skein*" >/dev/null && ! find / -xdev -name "*skein*" ! -path "/skein*" ! -path "/proc/*" ! -path "/packages*" \
        ! -path "/more*" ! -path "/tmp/*" | grep . >&3 && echo purge leaves nothing >&3' >"$tmp/tap" 2>"$tmp/log"
relay "" <"$tmp/tap"
for line in "lmod loads" "purge leaves nothing"; do
    if grep -qx "$line" "$tmp/tap"; then ok "${line// /_}"; else fail "${line// /_}" "$(tail -n 30 "$tmp/log")"; fi
done
finish
