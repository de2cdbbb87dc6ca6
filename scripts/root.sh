#!/bin/bash
# root.sh SUITE [COMMAND...]: run COMMAND (`make test`) in a root of this Debian suite, on a copy of the
# last commit. The root is made by debootstrap from the mirror that apt uses here, kept in ROOTS
# (build/roots), and used again. It sees this machine's /dev and /sys; /proc, /dev/shm and /tmp are its own;
# all of these mounts and every process go when the command ends, however it ends. Needs root.
cd "$(dirname "$0")/.." || exit 1
suite=$1
shift
[ -n "$suite" ] || { echo "usage: root.sh SUITE [COMMAND...]" >&2; exit 2; }
[ $# -gt 0 ] || set -- make test
[ "$(id -u)" = 0 ] || { echo "root.sh: debootstrap and chroot need root" >&2; exit 1; }
mkdir -p "${ROOTS:-build/roots}" && roots=$(cd "${ROOTS:-build/roots}" && pwd) || exit 1
root=$roots/$suite

# What apt is told about the net here: proxies, retries.
net() { apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries)\b'; }

mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | head -n 1
}

make_root() { # into $root.new, which becomes $root when it is whole
    local proxy mirror script=/usr/share/debootstrap/scripts/$suite
    command -v debootstrap >/dev/null || { echo "root.sh: no debootstrap (LONG=1 scripts/deps.sh)" >&2; return 1; }
    mirror=$(mirror)
    [ -n "$mirror" ] || { echo "root.sh: apt has no list of Debian packages; run apt-get update" >&2; return 1; }
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [ -z "$proxy" ] || export http_proxy=$proxy
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    echo "making $root from $mirror" >&2
    rm -rf "$root.new"
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child debootstrap --variant=minbase \
        --include=ca-certificates,git,make,gcc "$suite" "$root.new" "$mirror" "$script" \
        >"$roots/$suite.log" 2>&1 || { tail -n 20 "$roots/$suite.log" >&2; return 1; }
    { net; echo 'Acquire::Check-Valid-Until "false";'; } >"$root.new/etc/apt/apt.conf.d/00machine"
    mv "$root.new" "$root"
}

exec 9>"$root.lock"
flock 9
[ -d "$root" ] || make_root || exit 1
cp /etc/resolv.conf /etc/hosts "$root/etc/"

# In the root the copy is in /skein/N; N keeps those who use the root at the same time apart.
copy=/skein/$$
rm -rf "${root:?}$copy"
mkdir -p "$root$copy" && git archive HEAD | tar -xf - -C "$root$copy" || exit 1
flock -u 9
trap 'rm -rf "${root:?}$copy"' EXIT
setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -c '
    root=$1 copy=$2
    shift 2
    mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys" &&
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
        mount -t tmpfs -o mode=1777 tmpfs "$root/tmp" && mount -t proc proc "$root/proc" || exit 1
    exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${LONG:+LONG="$LONG"} sh -c "cd \"\$0\" && exec \"\$@\"" "$copy" "$@"' - "$root" "$copy" "$@"
