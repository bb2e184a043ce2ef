#!/bin/bash
# Installs the packages of one group of system-packages.txt that are missing; without permission it prints the exact line.
set -euo pipefail
group=${1:?usage: system-packages.sh GROUP}
here=$(dirname "$0")

if [ "$group" = python ]; then # a Python with ensurepip needs nothing
	for p in python3.13 python3.12 python3.11 python3; do
		command -v "$p" >/dev/null && "$p" -c 'import ensurepip, venv' 2>/dev/null && exit 0
	done
fi
command -v dpkg-query >/dev/null || { echo "Not a Debian or Ubuntu system: install the like of $(awk -v g="$group" '$1==g{print $2}' "$here/system-packages.txt" | xargs) yourself."; exit 0; }

missing=()
while read -r g package; do
	[ "$g" = "$group" ] || continue
	# Ubuntu 24.04 renamed some libraries (…t64); either name will do
	states=$(dpkg-query -W -f='${Status}\n' "$package" "${package}t64" 2>/dev/null || true) # it fails for the name that is not there
	grep -q '^install ok installed' <<<"$states" || missing+=("$package")
done < <(grep -v '^#' "$here/system-packages.txt")
[ ${#missing[@]} -gt 0 ] || exit 0

line="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then sudo=(); elif sudo -n true 2>/dev/null; then sudo=(sudo -n); else
	echo "System packages are missing. Run this line, then the same make command again:"
	echo "  sudo $line"
	exit 1
fi
echo "Installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
