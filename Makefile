# SPDX-License-Identifier: GPL-2.0
#
# This file is for people; kbuild reads Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build
W ?= 1
KERNEL ?= uml
MODULES ?= /lib/modules
FUZZ_SECONDS ?= 0

# KUNIT=1 adds the test modules. make passes variables of the command line on to kbuild, but not
# these three of the environment.
unexport KUNIT FAULTS BENCH
kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) W=$(W)

all:
	@packaging/supported.sh $(release) $(MODULES) >&2
	+$(kbuild) modules

# Modules are installed for the kernel that they were built for, which may differ from the
# running kernel. DESTDIR is another root; depmod runs there only if the root has that
# kernel.
release = $(or $(shell sed -n 's/^.*UTS_RELEASE "\(.*\)"$$/\1/p' \
		$(KDIR)/include/generated/utsrelease.h 2>/dev/null), \
	$(error no headers of a kernel in $(KDIR); packages: linux-headers-...))
version := $(shell sed -n 's/^.define RPCRDMA2_RELEASE "\(.*\)"/\1/p' include/rpcrdma2/release.h)
depmod = if [ -e $(DESTDIR)/lib/modules/$(release)/modules.order ]; then \
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(release); fi

install: install-modules install-utils

uninstall: uninstall-modules uninstall-utils

# For kernels that require signed modules: before "make install", with a key of the owner
sign:
	for m in rpcrdma2 xprtrdma2 svcrdma2; do \
		$(KDIR)/scripts/sign-file sha256 $(SIGN_KEY) $(SIGN_CERT) $$m/$$m.ko || exit; \
	done

install-modules:
	$(if $(wildcard $(DESTDIR)/lib/modules/$(release)/updates/dkms/rpcrdma2.ko*),$(error \
		rdma2: DKMS has modules for $(release), which depmod may prefer; see install.rst))
	+$(kbuild) modules_install INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates/rdma2 \
		DEPMOD=true CONFIG_MODULE_SIG_ALL=
	$(depmod)

uninstall-modules:
	rm -rf $(DESTDIR)/lib/modules/$(release)/updates/rdma2
	$(depmod)

# The man pages are installed if rst2man (python3-docutils) exists.
pages := rdma2.8 xprtrdma2.4 svcrdma2.4
page_file = $(DESTDIR)/usr/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(1)
install_page = if command -v rst2man >/dev/null; then \
	install -d $(dir $(page_file)) && \
	rst2man --report=2 --halt=2 Documentation/man/$(1).rst $(page_file) && \
	gzip -9nf $(page_file) || exit; fi;

install-utils:
	install -D -m 644 packaging/modprobe.conf $(DESTDIR)/usr/lib/modprobe.d/rdma2.conf
	install -D -m 644 utils/rpcrdma2.lua $(DESTDIR)/usr/share/rdma2/rpcrdma2.lua
	install -D -m 755 utils/rdma2 $(DESTDIR)/usr/bin/rdma2
	sed -i 's/@VERSION@/$(version)/' $(DESTDIR)/usr/bin/rdma2
	$(foreach page,$(pages),$(call install_page,$(page)))

uninstall-utils:
	rm -f $(DESTDIR)/usr/lib/modprobe.d/rdma2.conf $(DESTDIR)/usr/bin/rdma2
	rm -f $(foreach page,$(pages),$(call page_file,$(page))*)
	rm -rf $(DESTDIR)/usr/share/rdma2

# The sources of the modules, in DKMS's source folder, and the file by which DKMS 3.0 replaces
# modules of the same or a later version, such as those of "make install"
source := $(DESTDIR)/usr/src/rdma2-$(version)
forced := /usr/share/dkms/modules_to_force_install/rdma2
install-source:
	$(if $(shell packaging/dkms-remove.sh --is-copy $(source) || ls -d $(source) 2>/dev/null),$(error \
		rdma2: $(source) is a link, this folder, or no copy of 'make dkms-install'))
	rm -rf $(source)
	install -d $(source)
	sed 's/#MODULE_VERSION#/$(version)/' packaging/dkms.conf >$(source)/dkms.conf
	find Makefile Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 \
		packaging/supported.sh packaging/pre-install.sh packaging/dkms-remove.sh \
		-type f \( -name Makefile -o -name Kbuild -o -name '[!.]*.[ch]' -o -name '*.sh' \) \
		! -name '*.mod.c' ! -name features.h \
		-exec cp --parents -t $(source) {} +
	install -d $(dir $(DESTDIR)$(forced))
	echo rdma2_version-override >$(DESTDIR)$(forced)

# Installs the modules for the kernel of KDIR now, and for each later kernel with the
# kernel. Other versions are removed from DKMS.
dkms_root = $(if $(DESTDIR),$(error rdma2: DKMS has only this machine's root, DESTDIR must be empty))
dkms-install:
	$(dkms_root)
	+$(MAKE) install-source install-utils
	packaging/dkms-install.sh $(version) $(release)

dkms-uninstall:
	$(dkms_root)
	packaging/dkms-remove.sh
	rm -f $(DESTDIR)$(forced)
	+$(MAKE) uninstall-utils

# Builds the Debian packages and their source package in OUT.
deb:
	packaging/deb.sh $(OUT)

clean:
	+$(kbuild) clean

# All targets below run in guests and change neither this machine's kernel nor its network.
# A cache folder keeps the kernels.

modules:
	+scripts/vm/modules.sh $(KERNEL)

kernel:
	scripts/vm/kernel.sh $(KERNEL)

demo:
	scripts/demo.sh

check:
	scripts/check.sh $(SUITES)

quick:
	scripts/check.sh quick

# TARGETS="soak bench" selects targets, OUT=DIR is the folder of the logs.
check-all:
	OUT=$(OUT) scripts/check-all.sh $(TARGETS)

# RUNS=10
check-repeat:
	RUNS=$(RUNS) scripts/check-repeat.sh

# KERNELS="debian-7.3" selects kernels.
check-kernels:
	JOBS=$${JOBS:-1} KERNELS="$(KERNELS)" scripts/check.sh boot

lint:
	scripts/lint.sh

# Checks files that differ from BASE (default HEAD).
lint-changed:
	BASE=$(BASE) scripts/lint.sh --changed

packages:
	JOBS=$${JOBS:-1} scripts/check.sh packages

dissector:
	scripts/dissector.sh

# DEBIAN="12" or "13" selects a release.
check-install:
	JOBS=$${JOBS:-1} DEBIAN="$(DEBIAN)" scripts/check.sh install

kunit:
	scripts/kunit.sh $(KERNEL)

# SUITES="rpcrdma2_credit" selects suites; ARCH=i386 or s390x
kunit-host:
	scripts/kunit-host.sh $(addprefix --arch ,$(ARCH)) $(addprefix --suite ,$(SUITES))

mutants:
	scripts/mutants.sh $(FILES)

# MUTANTS=dma, bounds or wakeups selects a list, MUTANTS="bounds crowd" the changes of a group.
guest-mutants:
	scripts/guest-mutants.sh $(MUTANTS)

# GROUP="files kill" selects groups; testing.rst explains CASES, VERSIONS, DEVICE, SEED,
# OPTS.
test:
	scripts/nfs-test.sh $(KERNEL) $(GROUP)

shell:
	scripts/shell.sh $(KERNEL)

canary:
	scripts/canary.sh

# COVERAGE=DIR prints the table from existing results in DIR.
coverage:
	COVERAGE=$(COVERAGE) scripts/coverage.sh

conformance:
	KERNEL=$(KERNEL) scripts/check.sh conformance

# ARCHES="arm64 i386" selects architectures.
check-arches:
	scripts/check-arches.sh $(ARCHES)

# DMA=bounce, iova or "strict merge=1"
check-dma:
	scripts/check.sh dma

# Tests the detector of data races, and runs the most important groups with it.
check-races:
	JOBS=$${JOBS:-1} scripts/check.sh races

# Several processors. The guest has more of them than many a host, and the host's clock: one
# guest at a time.
check-smp:
	JOBS=$${JOBS:-1} scripts/check.sh smp

# Groups that depend on the host's clock, and long ones
check-long:
	scripts/check.sh long

# Groups that are too long for make check
soak:
	scripts/check.sh soak

# MESSAGES=, CONNECTIONS=, SEED=, DIRECTION=server or client, RATE=, REPLAY=
fuzz-wire:
	scripts/fuzz/wire.sh $(ARGS)

fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz/run.sh

# QUICK=1 measures part of the rows, MEMORY=1 only memory, TRIPS=1 only round trips, LINK=1
# round trips and links with delay and loss. CONNECTIONS=1+1000 measures only 1,000
# connections and one beside them. BASE=COMMIT compares with another commit, SEC=krb5p
# measures with Kerberos.
bench:
	BASE=$(BASE) OUT=$(OUT) SEC=$(SEC) scripts/bench.sh $(if $(QUICK),--quick) \
		$(if $(MEMORY),--memory) $(if $(TRIPS),--trips) $(if $(LINK),--link)

# ROW=WRITE SIZE=1048576; also VARIANT, DEPTH, MTU
flame:
	ROW=$(ROW) SIZE=$(SIZE) VARIANT=$(VARIANT) DEPTH=$(DEPTH) OUT=$(OUT) scripts/bench.sh --flame

cache-clean:
	scripts/vm/clean.sh

help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

## Build and install
##   make [KDIR=...]        the modules, for the running kernel or the one built in KDIR
##   make KUNIT=1           the test modules too
##   make sign              for Secure Boot; SIGN_KEY=FILE SIGN_CERT=FILE
##   make install           into the modules of that kernel; DESTDIR=... for another root
##   make uninstall         removes the files of make install
##   make dkms-install      by DKMS, for that kernel and later ones; make dkms-uninstall
##   make deb               Debian packages; OUT=DIR
##   make clean             removes the build in this folder
##
## Test: in guests and in user space; this machine's kernel and network do not change
##   make demo              real files over proto=rdma2, on the stock Debian kernel
##   make quick             in minutes: unit tests, lint of changed files, files, conformance
##   make check             the gate, as CI runs it; SUITES="lint kunit" selects suites
##   make check-all         all test targets, in hours, with a report; TARGETS=, OUT=DIR
##   make test              GROUP=files KERNEL=uml CASES=locks: one group in one kernel,
##                          uml (default), uml-debug or debian; all groups without GROUP
##   make shell             a prompt in a guest, with the modules loaded and a mount; KERNEL=
##
##   make kunit-host        unit tests in user space, with sanitizers, in seconds; SUITES=,
##                          ARCH=i386 (32 bit), s390x (big endian) or 64k (large pages)
##   make kunit             unit tests in a guest; KERNEL=
##   make mutants           whether kunit-host detects faults injected into the sources; FILES=
##   make guest-mutants     the same in guests; MUTANTS=dma, bounds or wakeups
##   make lint              warnings, sparse, checkpatch, kernel-doc, spelling, shell
##   make lint-changed      the same for the files that differ from a commit; BASE=
##   make packages          checks of the Debian packages, unpacked, and of DKMS
##   make dissector         the dissector for Wireshark, against messages written by hand
##   make canary            whether the detectors in the guests work
##   make coverage          functions of the modules that the guests of uml-debug enter, as a
##                          table; COVERAGE=DIR
##   make conformance       the tester (tester/) against rdma2 and in-tree rpcrdma; KERNEL=
##   make fuzz              100 million random headers; FUZZ_SECONDS=60 for a minute
##
##   make check-kernels     file tests on Debian's kernels; KERNELS="debian-7.3" selects kernels
##   make check-arches      modules compiled for other architectures; ARCHES="i386" selects some
##   make check-dma         over a device with DMA addresses of its own; DMA=bounce
##   make check-races       data races: KCSAN, four processors, in hours
##   make check-smp         several processors at once, sanitizers, Linux 7.3
##   make check-install     on Debian 12 and 13: apt, boot, upgrade of the kernel, purge; DEBIAN=13
##   make check-long        long groups, and groups that may fail on a slow machine
##   make check-repeat      the gate ten times, five of them beside load; RUNS=
##   make soak              faults and losses under load, and the longest groups
##   make fuzz-wire         1 million mutated messages to each end, beside a mount; ARGS=--help
##   make bench             instructions per operation, beside in-tree and TCP; QUICK=1, BASE=,
##                          SEC=, OUT=, CONNECTIONS=1+1000 (beside 1,000 idle connections)
##   make flame             flame graph of a row of bench, as SVG; ROW=WRITE SIZE=4096, OUT=DIR
##
##   make kernel            only the guest's kernel, into the cache; KERNEL=
##   make modules           only the modules for the guest's kernel; KERNEL=
##   make cache-clean       removes the cache of kernels and builds

.PHONY: all sign install uninstall install-modules uninstall-modules install-utils \
	uninstall-utils install-source dkms-install dkms-uninstall deb clean modules kernel \
	demo check quick check-all check-arches check-dma check-install check-kernels \
	check-long check-races check-repeat check-smp coverage lint lint-changed packages \
	dissector kunit kunit-host mutants guest-mutants test shell canary conformance soak fuzz fuzz-wire bench flame \
	cache-clean help
