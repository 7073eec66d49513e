#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks the sources for DKMS, and dkms-install and dkms-uninstall, with Debian 12's dkms in roots
# of its own, for the debian guest's kernel. Nothing is installed; check-install.sh does that in a
# guest. Only "DKMS builds and installs the sources" builds the modules; the other cases have modules
# without code, other files in their place, or none.
#
#	dkms.sh [--fetch]	only downloads, into the cache

set -u
# shellcheck source=scripts/vm/common.sh
. "$(dirname "$0")/vm/common.sh"

cd "$top" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 suite=dkms

kdir=$(scripts/vm/kernel.sh debian) || exit 1
dkms=$cache/dkms
fetch_dkms()
{
	[ -e "$dkms/usr/sbin/dkms" ] || unpack_packages "$dkms" dkms
}
with_lock "$dkms.lock" fetch_dkms || exit 1
[ "${1:-}" != --fetch ] || exit 0
release=$(cat "$kdir/release")
root=$work/root

# make_ FOLDER TARGET [VARIABLE=VALUE...]
make_()
{
	make -s -C "$1" KDIR="$kdir/build" "${@:2}"
}

# Runs Debian 12's dkms with separate trees, without installing anything.
dkms_()
{
	bash "$dkms/usr/sbin/dkms" "$@" --dkmstree "$work/tree" \
		--sourcetree "$root/usr/src" --installtree "$work/modules"
}

# dkms_skips RELEASE TEXT: succeeds if DKMS skips the build without failing, and neither
# would apt fail
dkms_skips()
{
	mkdir -p "$work/tree" "$work/modules/$1"
	[ -e "$work/modules/$1/build" ] || ln -s "$kdir/build" "$work/modules/$1/build"
	[ -e "$work/tree/rdma2" ] || dkms_ add -m rdma2 -v "$version" || return 1
	dkms_ build -m rdma2 -v "$version" -k "$1" --kernelsourcedir "$kdir/build" \
		>"$work/dkms.log" 2>&1
	[ $? -eq 77 ] || { cat "$work/dkms.log"; return 1; }
	cat "$work/dkms.log"
	grep -q "$2" "$work/dkms.log" &&
		dkms_ autoinstall -k "$1" --kernelsourcedir "$kdir/build"
}

# As during a kernel upgrade, when dkms 3.0 also reads dkms.conf for kernels with existing
# builds.
built_for_another_is_skipped()
{
	local m status arch module

	arch=$(uname -m)
	module=$work/tree/rdma2/$version/$release/$arch/module
	dkms_skips "$1" "$2" && mkdir -p "$module" || return 1
	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		: >"$module/$m.ko"
	done
	dkms_ status | grep "rdma2/$version, $release, $arch: built" &&
		dkms_skips "$1" "$2"
	status=$?
	rm -r "${module%/*/*}"
	return "$status"
}

# dkms_has RELEASE TEXT: succeeds if DKMS has installed modules for the kernel, and rpcrdma2.ko
# contains the text
dkms_has()
{
	dkms status | grep "rdma2/$version, $1, .*: installed" &&
		grep -q "$2" "$DESTDIR/lib/modules/$1/updates/dkms/rpcrdma2.ko"
}

# dkms_has_only VERSION: succeeds if $some has the modules of this version, and neither DKMS nor
# its source folder has another one, even after DKMS installs the modules that are missing
dkms_has_only()
{
	local version=$1

	dkms autoinstall -k "$some" && dkms_has "$some" "version=$1" &&
		! dkms status | grep -v "^rdma2/$1," &&
		[ "$(ls "$DESTDIR/usr/src")" = "rdma2-$1" ]
}

# had_modules RELEASE: the kernel gets files that DKMS takes for modules of other sources
had_modules()
{
	local m here arch tree=$DESTDIR/var/lib/dkms/rdma2

	arch=$(uname -m)
	here=$tree/$version/$1/$arch
	mkdir -p "$here/module" "$DESTDIR/lib/modules/$1/updates/dkms" || return 1
	ln -s "$version/$1/$arch" "$tree/kernel-$1-$arch"
	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		echo "of other sources" | tee "$here/module/$m.ko" \
			>"$DESTDIR/lib/modules/$1/updates/dkms/$m.ko"
	done
}

# Creates a substitute for dkms that builds for the debian guest's kernel, in a root of its own
# and unsigned. A kernel with "gone" in its name has no headers. "dkms status" also prints $BROKEN,
# as DKMS 3.2 does for a version without sources.
own_dkms()
{
	local forced=/usr/share/dkms/modules_to_force_install

	rm -rf "$DESTDIR" "${work:?}/bin"
	mkdir -p "$work/bin" "$DESTDIR"{/lib/modules,/usr/share,/usr/src,/var/lib/dkms} || return
	cp -r "$root/usr/share/dkms" "$DESTDIR/usr/share/"
	sed "s|$forced|$DESTDIR&|" "$dkms/usr/sbin/dkms" >"$work/dkms"
	cat >"$work/bin/dkms" <<-END
	#!/bin/bash
	[[ \$1 != "\${REFUSED:-}" ]] || exit 3
	[[ \$1 != status || -z \${BROKEN:-} ]] || echo "\$BROKEN"
	options=(--sourcetree "$DESTDIR/usr/src" --installtree "$DESTDIR/lib/modules")
	[[ " \$* " == *" --dkmstree "* ]] || options+=(--dkmstree "$DESTDIR/var/lib/dkms")
	[[ \$1 == status ]] || options+=(--no-depmod)
	[[ " \$* " == *-gone-* ]] || options+=(--kernelsourcedir "$kdir/build")
	export sign_file=/nonexistent
	export MAKEFLAGS=" -- CONFIG_DEBUG_INFO= CONFIG_DEBUG_INFO_BTF_MODULES="
	exec bash "$work/dkms" "\$@" "\${options[@]}"
	END
	chmod +x "$work/bin/dkms"
}

# with_dkms COMMAND...: in a new root
with_dkms()
{
	local DESTDIR=$work/own
	local -x RDMA2_ROOT=$DESTDIR PATH=$work/bin:$PATH
	local some=6.12.1-some-amd64 other=6.12.2-other-amd64

	own_dkms && "$@"
}

# sources VERSION: the sources of "make install-source", with modules of this version that have no
# code
sources()
{
	local folder=$DESTDIR/usr/src/rdma2-$1

	cp -rT "$source" "$folder" && mkdir -p "$DESTDIR/lib/modules/$some" || return
	sed -i -e "s|^PACKAGE_VERSION=.*|PACKAGE_VERSION=\"$1\"|" -e 's|^CLEAN=.*|CLEAN=true|' \
		-e 's|^MAKE.*|MAKE="sh build.sh"|' "$folder/dkms.conf"
	cat >"$folder/build.sh" <<-END
	for m in rpcrdma2 xprtrdma2 svcrdma2; do
		echo '.ident "none"; .section .modinfo; .asciz "version=$1"' | as -o \$m/\$m.ko - || exit
	done
	END
}

dkms_builds()
{
	cp -r "$source" "$DESTDIR/usr/src/" && mkdir "$DESTDIR/lib/modules/$release" &&
		dkms add -m rdma2 -v "$version" &&
		dkms install -m rdma2 -v "$version" -k "$release" &&
		dkms_has "$release" "version=$version"
}

# A kernel without headers and an existing build do not stop dkms-install.sh, and no kernel
# loses its modules.
dkms_installs_anew()
{
	local gone=6.1.0-gone-amd64

	sources "$version" && dkms add -m rdma2 -v "$version" &&
		had_modules "$gone" && had_modules "$release" || return 1
	dkms_has "$gone" "of other sources" && dkms_has "$release" "of other sources" || return 1
	packaging/dkms-install.sh "$version" "$release" >"$work/dkms.log" 2>&1 ||
		{ cat "$work/dkms.log"; return 1; }
	cat "$work/dkms.log"
	tail -n 1 "$work/dkms.log" |
		grep -x "rdma2: DKMS has not built these sources for: $gone" &&
		dkms_has "$gone" "of other sources" &&
		dkms_has "$release" "version=$version" || return 1
	! packaging/dkms-install.sh "$version" "$gone" &&
		dkms_has "$gone" "of other sources" && dkms_has "$release" "version=$version" &&
		! ls -d "$DESTDIR"/var/lib/rdma2-dkms.* &&
		packaging/dkms-remove.sh && [ -z "$(ls "$DESTDIR/usr/src")" ]
}

# has_installed VERSION: DKMS has installed this version for $some and $other. The first call keeps
# a copy for the others, because DKMS starts some thousand processes for it.
has_installed()
{
	local version=$1 kept=$work/kept-$1

	if [ -e "$kept" ]; then
		rm -rf "$DESTDIR" && cp -a "$kept" "$DESTDIR"
		return
	fi
	mkdir "$DESTDIR/lib/modules/$other" && sources "$1" &&
		packaging/dkms-install.sh "$1" "$other" &&
		packaging/dkms-install.sh "$1" "$some" && dkms_has_only "$1" &&
		dkms_has "$other" "version=$1" && cp -a "$DESTDIR" "$kept"
}

# replaces OLD NEW: at the end DKMS has only the new version, for both kernels
replaces()
{
	local version=$2

	has_installed "$1" && sources "$2" && packaging/dkms-install.sh "$2" "$some" &&
		dkms_has_only "$2" && dkms_has "$other" "version=$2"
}

# fails_with TEXT COMMAND...: succeeds if the command fails, and the last line of its output has
# the text
fails_with()
{
	"${@:2}" >"$work/failure" 2>&1 && return 1
	cat "$work/failure"
	tail -n 1 "$work/failure" | grep -qF "$1"
}

# A version that does not build for the requested kernel replaces no other.
failing_build_replaces_nothing()
{
	has_installed 0.9.0 && sources 0.10.0 || return
	echo "exit 1" >"$DESTDIR/usr/src/rdma2-0.10.0/build.sh"
	fails_with "not built these sources for: $some; another version stays" \
		packaging/dkms-install.sh 0.10.0 "$some" && rm -r "$DESTDIR/usr/src/rdma2-0.10.0" &&
		dkms_has_only 0.9.0
}

# The sources build, but DKMS does not remove the other version.
failing_removal_is_named()
{
	has_installed 0.9.0 && sources 0.10.0 &&
		REFUSED=remove fails_with "rdma2: DKMS has not removed 0.9.0" \
			packaging/dkms-install.sh 0.10.0 "$some" &&
		rm -r "$DESTDIR/usr/src/rdma2-0.10.0" && dkms_has_only 0.9.0
}

# A kernel without headers loses the modules of another version.
kernel_without_modules_is_named()
{
	local gone=6.1.0-gone-amd64

	has_installed 0.9.0 && version=0.9.0 had_modules "$gone" && sources 0.10.0 &&
		packaging/dkms-install.sh 0.10.0 "$some" >"$work/dkms.log" 2>&1 || return
	cat "$work/dkms.log"
	grep -x "rdma2: DKMS has not built these sources for: $gone" "$work/dkms.log" &&
		tail -n 1 "$work/dkms.log" | grep "^rdma2: DKMS has no modules now for: $gone;" &&
		[ -z "$(ls "$DESTDIR/lib/modules/$gone/updates/dkms")" ] && dkms_has_only 0.10.0
}

# Folders with similar names stay: copies, another module, and a link to sources elsewhere.
only_own_sources_are_removed()
{
	local folder=$DESTDIR/usr/src version=0.10.0 name before

	has_installed 0.9.0 && sources 0.7.0 && mv "$folder/rdma2-0.7.0" "$folder/mine" &&
		ln -s mine "$folder/rdma2-0.7.0" && sources 0.8.0 || return
	for name in 0.10.0.orig "0.10.0 my patch" tools-1.0; do
		cp -r "$folder/rdma2-0.8.0" "$folder/rdma2-$name" || return
	done
	sources 1.0 && sed -i '/^PACKAGE_NAME/s/rdma2/other/' "$folder/rdma2-1.0/dkms.conf" &&
		sources "$version" || return
	before=$(ls "$folder")
	packaging/dkms-install.sh "$version" "$some" >"$work/dkms.log" 2>&1
	cat "$work/dkms.log"
	diff <(grep -vx 'rdma2-0\.[89]\.0' <<<"$before") <(ls "$folder") &&
		diff <(printf "rdma2: removes $folder/rdma2-0.%s.0\n" 8 9) \
			<(grep '^rdma2: removes ' "$work/dkms.log") &&
		dkms_has "$some" "version=$version"
}

# keeps_folder CHECKOUT FILE: succeeds if "make dkms-install" in the checkout refuses to replace
# the folder of its version in /usr/src, and keeps this file
keeps_folder()
{
	fails_with "rdma2: ${2%/*} is a link, this folder, or no copy of 'make dkms-install'" \
		make_ "$1" install-source DESTDIR="$DESTDIR" && [ -e "$2" ]
}

only_own_copy_is_replaced()
{
	local folder=$DESTDIR/usr/src/rdma2-$version

	sources "$version" && make_ "$top" install-source DESTDIR="$DESTDIR" &&
		[ ! -e "$folder/build.sh" ] && cp -r packaging "$folder/" &&
		keeps_folder "$folder" "$folder/dkms.conf" &&
		mv "$folder" "$DESTDIR/away" && ln -s "$DESTDIR/away" "$folder" &&
		keeps_folder "$top" "$folder/dkms.conf" &&
		rm "$folder" && mv "$DESTDIR/away" "$folder" && mkdir "$folder/.git" &&
		keeps_folder "$top" "$folder/.git" && packaging/dkms-remove.sh &&
		rmdir "$folder/.git" && (cd "$folder" && packaging/dkms-remove.sh) &&
		sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="mine"/' "$folder/dkms.conf" &&
		keeps_folder "$top" "$folder/Makefile" &&
		rm "$folder/dkms.conf" && keeps_folder "$top" "$folder/Makefile"
}

# Builds, editors and patches leave files beside the sources.
only_sources_of_git_are_copied()
{
	local from=$work/checkout to=$work/copied left
	local parts=(Makefile Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2)

	mkdir "$from" && cp -r "${parts[@]}" packaging "$from/" || return
	for left in compat/features.h rpcrdma2/{.#wire.c,.wire.c.swp,wire.c~,wire.c.orig,wire.c.rej} \
			rpcrdma2/{wire.o,.wire.o.cmd,rpcrdma2.ko,rpcrdma2.mod,rpcrdma2.mod.c}; do
		touch "$from/$left" || return
	done
	make_ "$from" install-source DESTDIR="$to" &&
		diff <(sort <(git ls-files "${parts[@]}" packaging/{supported,pre-install,dkms-remove}.sh) \
				<(echo dkms.conf)) \
			<(cd "$to"/usr/src/rdma2-* && find . -type f -printf '%P\n' | sort)
}

# DKMS removes no version whose sources are missing, so all versions stay. "dkms status" of DKMS 3.0
# ends at such a version without printing it.
nothing_is_removed_in_part()
{
	local broken folder version=0.9.0
	local -x BROKEN=''

	has_installed "$version" || return
	for broken in 0.8.0 0.9.1; do
		folder=$DESTDIR/usr/src/rdma2-$broken
		sources "$broken" && dkms build -m rdma2 -v "$broken" -k "$some" &&
			mv "$folder" "$DESTDIR/away" && sources 0.10.0 || return
		for BROKEN in '' "rdma2/$broken: broken"; do
			fails_with "rdma2: sources of $broken are missing: restore $folder and" \
				packaging/dkms-install.sh 0.10.0 "$some" &&
				fails_with "rdma2: sources of $broken are missing: " \
					packaging/dkms-remove.sh || return
		done
		BROKEN=''
		mv "$DESTDIR/away" "$folder" && dkms remove -m rdma2 -v "$broken" --all &&
			rm -r "$folder" "$DESTDIR/usr/src/rdma2-0.10.0" && dkms_has_only "$version" &&
			dkms_has "$other" "version=$version" || return
	done
}

# DKMS 3.0 keeps a build that lacks modules.
incomplete_build_is_removed()
{
	local tree=$DESTDIR/var/lib/dkms/rdma2 part

	part=6.1.0-part-amd64/$(uname -m)/log
	has_installed 0.9.0 && sources 0.10.0 && mkdir -p "$tree/0.9.0/$part" &&
		packaging/dkms-install.sh 0.10.0 "$some" && dkms_has_only 0.10.0 &&
		mkdir -p "$tree/0.10.0/$part" && packaging/dkms-remove.sh && [ ! -e "$tree" ] &&
		! find "$DESTDIR" -name '*rdma2.ko' -o -name 'rdma2-*' | grep .
}

# DKMS does not remove all modules of a kernel whose build has lost one of them: 3.0 removes none,
# 3.2 leaves the lost one. The same version is not installed anew.
nothing_is_removed_without_a_module()
{
	local build version

	build=var/lib/dkms/rdma2/0.9.0/$some/$(uname -m)
	has_installed 0.9.0 && sources 0.10.0 && rm "$DESTDIR/$build/module/rpcrdma2.ko" &&
		rm -rf "$work/copy" && cp -a "$DESTDIR" "$work/copy" || return
	for version in 0.9.0 0.10.0; do
		fails_with "rdma2: modules of $DESTDIR/$build are missing: remove" \
			packaging/dkms-install.sh "$version" "$some" &&
			diff -r --no-dereference "$work/copy" "$DESTDIR" || return
	done
}

# DKMS builds and removes modules of this machine, and its links to sources are those of the root
# that it runs in.
other_root_is_refused()
{
	local target

	has_installed 0.9.0 || return
	for target in dkms-install dkms-uninstall; do
		fails_with "rdma2: DKMS has only this machine's root, DESTDIR must be empty" \
			make_ "$top" "$target" DESTDIR="$work/other" &&
			[ ! -e "$work/other" ] || return
	done
	dkms_has_only 0.9.0
}

# The postinst of rdma2-dkms, without the part of dh_dkms, which adds and installs
package_replaces()
{
	local postinst=(sh "$work/postinst" configure)

	sed "s|/usr/src|$DESTDIR&|" debian/rdma2-dkms.postinst >"$work/postinst"
	has_installed "$1" && DPKG_ROOT=$work/none "${postinst[@]}" && dkms_has_only "$1" &&
		sources "$version" || return
	printf '#!/bin/sh\necho %s\n' "$version" >"$work/bin/dpkg-query"
	chmod +x "$work/bin/dpkg-query"
	REFUSED=remove "${postinst[@]}" >"$work/dkms.log" 2>&1 &&
		grep -x "rdma2: DKMS has not removed $1" "$work/dkms.log" && "${postinst[@]}" &&
		dkms install -m rdma2 -v "$version" -k "$some" && dkms_has_only "$version"
}

# DKMS's modules replace those of "make install", of the same version and of any other, and
# leave nothing behind.
replaces_make_install()
{
	local v folder=updates/rdma2

	for v in "$version" 0.0.1 99.0; do
		own_dkms && sources "$v" && mkdir -p "$DESTDIR/lib/modules/$some/$folder" || return
		(cd "$DESTDIR/lib/modules/$some/$folder" && mkdir rpcrdma2 xprtrdma2 svcrdma2 &&
			sh "$DESTDIR/usr/src/rdma2-$v/build.sh") || return
		[ "$v" = "$version" ] || rm -r "$DESTDIR/usr/src/rdma2-$v"
		sources "$version" && dkms add -m rdma2 -v "$version" &&
			dkms build -m rdma2 -v "$version" -k "$some" &&
			dkms install -m rdma2 -v "$version" -k "$some" || return
		dkms_has_only "$version" && [ ! -e "$DESTDIR/lib/modules/$some/$folder" ] &&
			dkms remove -m rdma2 -v "$version" --all &&
			! find "$DESTDIR/lib/modules" -name '*.ko' | grep . || return
	done
}

# depmod might prefer DKMS's modules.
make_install_is_refused()
{
	mkdir -p "$DESTDIR/lib/modules/$release/updates/dkms" &&
		touch "$DESTDIR/lib/modules/$release/updates/dkms/rpcrdma2.ko.xz" &&
		fails_with "rdma2: DKMS has modules for $release, which depmod may prefer" \
			make_ "$top" install-modules DESTDIR="$DESTDIR"
}

# "make dkms-uninstall" removes all versions, and the tools only if DKMS has removed them.
dkms_uninstalls()
{
	local conf=$DESTDIR/usr/lib/modprobe.d/rdma2.conf
	local uninstall=(make_ "$top" dkms-uninstall DESTDIR="$DESTDIR" dkms_root=)

	has_installed 0.9.0 && make_ "$top" install-source install-utils DESTDIR="$DESTDIR" &&
		[ -e "$conf" ] || return
	! REFUSED=remove "${uninstall[@]}" && [ -e "$conf" ] &&
		version=0.9.0 dkms_has "$some" version=0.9.0 || return
	"${uninstall[@]}" && ! find "$DESTDIR" -name '*rdma2*' | grep . && "${uninstall[@]}"
}

cloud_is_skipped()
{
	mkdir -p "$work/modules/6.12.1-cloud/build"
	echo CONFIG_SUNRPC=m >"$work/modules/6.12.1-cloud/build/.config"
	dkms_skips 6.12.1-cloud "rdma2: Linux 6.12.1-cloud is without CONFIG_INFINIBAND_ADDR_TRANS"
}

vendor_is_skipped()
{
	mkdir -p "$work/modules/$release/updates/dkms"
	: >"$work/modules/$release/updates/dkms/mlx_compat.ko"
	dkms_skips "$release" "rdma2: Linux .* has the RDMA modules of a vendor"
}

make_ "$top" install-source DESTDIR="$root" || exit 1
source=$(echo "$root"/usr/src/rdma2-*)
version=${source##*-}
expect "make install-source copies the sources of git only" only_sources_of_git_are_copied
expect "DKMS skips an untested kernel" \
	dkms_skips 7.9.1-amd64 "rdma2: not tested with Linux 7.9.1-amd64"
expect "DKMS skips it also if another kernel has the modules" \
	built_for_another_is_skipped 7.9.1-amd64 "rdma2: not tested with Linux 7.9.1-amd64"
expect "DKMS skips a kernel without RDMA" cloud_is_skipped
expect "DKMS skips a kernel with the RDMA modules of a vendor" vendor_is_skipped
expect "DKMS builds and installs the sources" with_dkms dkms_builds
expect "make dkms-install keeps the modules of a kernel without headers, and builds for others" \
	with_dkms dkms_installs_anew
expect "make dkms-install replaces an older version" with_dkms replaces 0.9.0 0.10.0
expect "make dkms-install replaces a newer version" with_dkms replaces 0.10.0 0.9.0
expect "make dkms-install replaces no other version if it fails" \
	with_dkms failing_build_replaces_nothing
expect "make dkms-install names the failure of a removal" with_dkms failing_removal_is_named
expect "make dkms-install names a kernel that has lost its modules" \
	with_dkms kernel_without_modules_is_named
expect "make dkms-install removes no sources but rdma2's" with_dkms only_own_sources_are_removed
expect "make dkms-install replaces no link, and no sources but a copy of its own" \
	with_dkms only_own_copy_is_replaced
expect "make dkms-install and dkms-uninstall keep all versions if DKMS cannot remove one" \
	with_dkms nothing_is_removed_in_part
expect "make dkms-install removes an incomplete build" with_dkms incomplete_build_is_removed
expect "make dkms-install and dkms-uninstall keep all versions if DKMS has lost a module" \
	with_dkms nothing_is_removed_without_a_module
expect "make dkms-install and dkms-uninstall refuse another root" \
	with_dkms other_root_is_refused
expect "make dkms-uninstall removes all versions" with_dkms dkms_uninstalls
expect "rdma2-dkms replaces another version of make dkms-install" \
	with_dkms package_replaces 0.9.0
expect "DKMS replaces the modules of make install" with_dkms replaces_make_install
expect "make install refuses a kernel with modules of DKMS" with_dkms make_install_is_refused
exit "$failed"
