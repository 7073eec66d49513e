# SPDX-License-Identifier: GPL-2.0
#
# For people; kbuild reads Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build
W ?= 1
KERNEL ?= uml
FUZZ_SECONDS ?= 0

# KUNIT=1 adds the test modules, ANY_KERNEL=1 builds for a kernel that has not
# been tested. Variables given on the command line reach kbuild by themselves.
kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) W=$(W)

all:
	+$(kbuild) modules

install:
	+$(kbuild) modules_install
	depmod -a

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

lint:
	scripts/lint.sh

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
	@echo 'make ANY_KERNEL=1      also for a kernel that has not been tested'
	@echo 'make install           into the running kernel'"'"'s modules'
	@echo 'make clean             what was built here'
	@echo
	@echo 'In a guest, KERNEL=uml (default), uml-debug or debian:'
	@echo 'make demo              real files over proto=rdma2, on the stock Debian kernel'
	@echo 'make check             every test; what CI runs; SUITES="lint kunit" for some'
	@echo 'make lint              warnings, sparse, checkpatch, kernel-doc, spelling, shell'
	@echo 'make kunit             unit tests'
	@echo 'make kunit-host        unit tests in user space, with sanitizers: no guest, seconds'
	@echo 'make mutants           whether the unit tests see each fault put into the pure code; FILES=...'
	@echo 'make test              file tests over soft-RoCE'
	@echo 'make canary            whether the detectors in the guests are awake'
	@echo 'make fuzz              100 million random headers; FUZZ_SECONDS=60 for a minute'
	@echo 'make bench             instructions per operation, beside in-tree and TCP; QUICK=1, BASE=COMMIT, OUT=DIR'
	@echo 'make flame             where a row of it spends them, as SVG; ROW=WRITE SIZE=4096, VARIANT=intree, OUT=DIR'
	@echo 'make shell             a prompt, with the modules loaded and a mount in place'
	@echo 'make kernel            only the guest'"'"'s kernel, into the cache'
	@echo 'make modules           only the modules for the guest'"'"'s kernel'
	@echo 'make cache-clean       empty the cache of kernels and builds'

.PHONY: all install clean modules kernel demo check lint kunit kunit-host mutants \
	test shell canary fuzz bench flame cache-clean help
