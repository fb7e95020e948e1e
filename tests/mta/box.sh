#!/bin/sh
# box.sh REPOSITORY BINARIES: a throw-away copy of this machine for one mail server. It prints its pid when it stands, and
# stands as long as its standard input is open; then its processes, its mounts and all that was written in it are gone,
# however the test ended. Nothing of it touches the machine: writes go to memory, the network is a loopback of its own.
# Inside, the repository is at /formd/source, the binaries at /formd/bin; `nsenter` runs commands in it.
set -eu
if [ "${3-}" != inside ]; then
    exec unshare --mount --pid --net --fork --kill-child "$0" "$1" "$2" inside
fi

# The old /proc still shows, so this is the pid by which the machine knows this shell.
read -r pid _ </proc/self/stat
# A folder that is on every Debian; what is mounted on it here, nobody else sees.
root=/media
mount -t tmpfs -o size=2g box $root
mkdir $root/upper $root/work $root/box
mount -t overlay -o lowerdir=/,upperdir=$root/upper,workdir=$root/work box $root/box
cd $root/box
mkdir -p formd/source formd/bin
mount --bind "$1" formd/source
mount --bind "$2" formd/bin
mount -o remount,bind,ro formd/source
mount -t tmpfs tmp tmp
chmod 1777 tmp
mount --rbind /dev dev
mount -t proc proc proc
ip link set lo up
exec chroot . sh -c "echo $pid; exec cat >/dev/null"
