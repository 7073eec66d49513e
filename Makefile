# SPDX-License-Identifier: GPL-2.0
#
# For people; kbuild reads Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build
W ?= 1
KERNEL ?= uml
MODULES ?= /lib/modules
FUZZ_SECONDS ?= 0

# KUNIT=1 adds the test modules. Variables given on the command line reach kbuild
# by themselves.
kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) W=$(W)

all:
	@packaging/supported.sh $(release) $(MODULES) >&2
	+$(kbuild) modules

# Into the kernel that was built for, which need not be the one that runs. DESTDIR
# is another root; depmod is for its owner there, but where it has that kernel.
release = $(or $(shell sed -n 's/^.*UTS_RELEASE "\(.*\)"$$/\1/p' \
		$(KDIR)/include/generated/utsrelease.h 2>/dev/null), \
	$(error no headers of a kernel in $(KDIR); packages: linux-headers-...))
version := $(shell sed -n 's/^.define RPCRDMA2_VERSION "\(.*\)"/\1/p' include/rpcrdma2/version.h)
depmod = if [ -e $(DESTDIR)/lib/modules/$(release)/modules.order ]; then \
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(release); fi

install: install-modules install-utils

uninstall: uninstall-modules uninstall-utils

# Before "make install", where the kernel asks for it; the key is the owner's.
sign:
	for m in rpcrdma2 xprtrdma2 svcrdma2; do \
		$(KDIR)/scripts/sign-file sha256 $(SIGN_KEY) $(SIGN_CERT) $$m/$$m.ko || exit; \
	done

install-modules:
	+$(kbuild) modules_install INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates/rdma2 \
		DEPMOD=true CONFIG_MODULE_SIG_ALL=
	$(depmod)

uninstall-modules:
	rm -rf $(DESTDIR)/lib/modules/$(release)/updates/rdma2
	$(depmod)

# The man pages, where rst2man (python3-docutils) is installed
pages := rdma2.8 xprtrdma2.4 svcrdma2.4
page_file = $(DESTDIR)/usr/share/man/man$(patsubst .%,%,$(suffix $(1)))/$(1)
install_page = if command -v rst2man >/dev/null; then \
	install -d $(dir $(page_file)) && \
	rst2man --report=2 --halt=2 Documentation/man/$(1).rst $(page_file); fi;

install-utils:
	install -D -m 644 packaging/modprobe.conf $(DESTDIR)/usr/lib/modprobe.d/rdma2.conf
	install -D -m 644 utils/rpcrdma2.lua $(DESTDIR)/usr/share/rdma2/rpcrdma2.lua
	install -D -m 755 utils/rdma2 $(DESTDIR)/usr/bin/rdma2
	sed -i 's/@VERSION@/$(version)/' $(DESTDIR)/usr/bin/rdma2
	$(foreach page,$(pages),$(call install_page,$(page)))

uninstall-utils:
	rm -f $(DESTDIR)/usr/lib/modprobe.d/rdma2.conf $(DESTDIR)/usr/bin/rdma2
	rm -f $(foreach page,$(pages),$(call page_file,$(page)))
	rm -rf $(DESTDIR)/usr/share/rdma2

# What the modules are built of, where DKMS looks for it
source := /usr/src/rdma2-$(version)
install-source:
	rm -rf $(DESTDIR)$(source)
	install -d $(DESTDIR)$(source)
	find Makefile Kbuild include compat rpcrdma2 xprtrdma2 svcrdma2 packaging/supported.sh \
		-type f ! -name '.*' ! -name '*.o' ! -name '*.ko' ! -name '*.a' ! -name '*.mod' \
		! -name '*.mod.c' ! -name modules.order ! -name Module.symvers \
		! -name features.h ! -name '*.log' \
		-exec cp --parents -t $(DESTDIR)$(source) {} +
	sed 's/#MODULE_VERSION#/$(version)/' packaging/dkms.conf >$(DESTDIR)$(source)/dkms.conf

# For the kernel of KDIR now, for each later one when it is installed
dkms-install: install-source install-utils
	dkms install -m rdma2 -v $(version) -k $(release)

dkms-uninstall: uninstall-utils
	dkms remove -m rdma2 -v $(version) --all
	rm -rf $(source)

# The Debian packages, and their source package, into OUT
deb:
	packaging/deb.sh $(OUT)

clean:
	+$(kbuild) clean

# Everything below runs in guests, and touches neither this machine's kernel
# nor its network. The kernels are kept in a cache folder.

modules:
	+scripts/vm/modules.sh $(KERNEL)

kernel:
	scripts/vm/kernel.sh $(KERNEL)

demo:
	scripts/demo.sh

check:
	scripts/check.sh $(SUITES)

# KERNELS="debian-7.3" for some
check-kernels:
	scripts/kernels.sh --boot $(KERNELS)

lint:
	scripts/lint.sh

packages:
	scripts/packages.sh

dissector:
	scripts/dissector.sh

# DEBIAN="12" or "13" for one of them
check-install:
	scripts/check-install.sh $(DEBIAN)

kunit:
	scripts/kunit.sh $(KERNEL)

kunit-host:
	scripts/kunit-host.sh

mutants:
	scripts/mutants.sh $(FILES)

test:
	scripts/nfs-test.sh $(KERNEL)

shell:
	scripts/shell.sh $(KERNEL)

canary:
	scripts/canary.sh

conformance:
	scripts/nfs-test.sh $(KERNEL) conformance conformance-client conformance-intree

# What takes too long for make check
soak:
	scripts/check.sh soak

# MESSAGES=, CONNECTIONS=, SEED=, DIRECTION=server or client, RATE=, REPLAY=
fuzz-wire:
	scripts/fuzz/wire.sh $(ARGS)

fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz/run.sh

# QUICK=1 for a part of the rows, MEMORY=1 for memory alone, TRIPS=1 for round trips
# alone, BASE=COMMIT for another commit beside this one
bench:
	BASE=$(BASE) OUT=$(OUT) scripts/bench.sh $(if $(QUICK),--quick) \
		$(if $(MEMORY),--memory) $(if $(TRIPS),--trips)

# ROW=WRITE SIZE=1048576, and VARIANT, DEPTH, MTU
flame:
	ROW=$(ROW) SIZE=$(SIZE) VARIANT=$(VARIANT) DEPTH=$(DEPTH) OUT=$(OUT) scripts/flame.sh

cache-clean:
	scripts/vm/clean.sh

help:
	@echo 'make [KDIR=...]        the modules, for the running kernel or the one built in KDIR'
	@echo 'make KUNIT=1           the test modules too'
	@echo 'make sign              for Secure Boot; SIGN_KEY=FILE SIGN_CERT=FILE'
	@echo 'make install           into the modules of that kernel; DESTDIR=... for another root'
	@echo 'make uninstall         what make install put there'
	@echo 'make dkms-install      by DKMS, for each kernel that is installed; make dkms-uninstall'
	@echo 'make deb               Debian packages; OUT=DIR'
	@echo 'make clean             what was built here'
	@echo
	@echo 'In a guest, KERNEL=uml (default), uml-debug or debian:'
	@echo 'make demo              real files over proto=rdma2, on the stock Debian kernel'
	@echo 'make check             what CI runs; SUITES="lint kunit" for some'
	@echo 'make check-kernels     file tests on Debian'"'"'s kernels 6.1, 6.12 and 7.3; KERNELS="debian-7.3"'
	@echo 'make lint              warnings, sparse, checkpatch, kernel-doc, spelling, shell'
	@echo 'make packages          the Debian packages, unpacked and looked at'
	@echo 'make dissector         the dissector for Wireshark, against messages written by hand'
	@echo 'make check-install     on Debian 12 and 13: apt, boot, upgrade of the kernel, purge; DEBIAN=13'
	@echo 'make kunit             unit tests'
	@echo 'make kunit-host        unit tests in user space, with sanitizers: no guest, seconds'
	@echo 'make mutants           whether the unit tests see each fault put into the pure code; FILES=...'
	@echo 'make test              file tests over soft-RoCE'
	@echo 'make canary            whether the detectors in the guests are awake'
	@echo 'make conformance       the tester (tester/) against these ends and in-tree'"'"'s'
	@echo 'make soak              faults and losses under load, RPCs in both directions, for half an hour'
	@echo 'make fuzz              100 million random headers; FUZZ_SECONDS=60 for a minute'
	@echo 'make fuzz-wire         1 million mutated messages to each end, beside a mount; ARGS=--help'
	@echo 'make bench             instructions per operation, beside in-tree and TCP; QUICK=1, BASE=COMMIT, OUT=DIR'
	@echo 'make flame             where a row of it spends them, as SVG; ROW=WRITE SIZE=4096, VARIANT=intree, OUT=DIR'
	@echo 'make shell             a prompt, with the modules loaded and a mount in place'
	@echo 'make kernel            only the guest'"'"'s kernel, into the cache'
	@echo 'make modules           only the modules for the guest'"'"'s kernel'
	@echo 'make cache-clean       empty the cache of kernels and builds'

.PHONY: all sign install uninstall install-modules uninstall-modules install-utils \
	uninstall-utils install-source dkms-install dkms-uninstall deb clean modules kernel \
	demo check check-install check-kernels lint packages dissector kunit kunit-host mutants test shell canary \
	conformance soak fuzz fuzz-wire bench flame cache-clean help
