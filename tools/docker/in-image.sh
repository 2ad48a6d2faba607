#!/bin/sh
# Runs a program in the files of an image, with what docker-compose.yml leaves to a container: the image's user, no
# capability, no new privilege, nothing to write to but /tmp. The network is the machine's. In a mount namespace of its own:
# unshare --mount -- sh in-image.sh ROOT WORKDIR USER:GROUP [SECRET=FILE …] [VOLUME=FOLDER …] -- [NAME=VALUE …] PROGRAM …
set -eu
root=$1 workdir=$2 user=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/secrets"
while [ "$1" != -- ]; do
  if [ -d "${1#*=}" ]; then
    mount --bind "${1#*=}" "$root${1%%=*}"
  else
    # Readable to the user of the image, as deploy/prepare.mjs leaves them.
    install -m 444 "${1#*=}" "$root/run/secrets/$(basename "${1%%=*}")"
  fi
  shift
done
shift
mount -o remount,ro "$root/run"
exec chroot "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --inh-caps=-all \
  --bounding-set=-all --no-new-privs --pdeathsig KILL -- env -C "$workdir" "$@"
