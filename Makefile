# SPDX-License-Identifier: GPL-2.0-only
#
# For people. Each target is one program in scripts/, which has a --help.

KERNEL ?= 6.12
KDIR ?=
CPUS ?= 8
ROUNDS ?= 5
SECONDS ?= 4
# Not from the environment, where words like these mean other things.
NAME =
EMAIL =
NUMBER ?= 150
SEED ?= 1

# The programs are Python, which a small Debian does not have.
go = scripts/deps base && scripts/$(1)
source = --version '$(KERNEL)' $(if $(KDIR),--kdir '$(KDIR)')
# These work on what they fetch.
fetched = $(if $(KDIR),$(error make $@ knows no KDIR; it tests the kernel that KERNEL names),$(call go,$(1)))
kdir = $(if $(KDIR),--kdir '$(KDIR)',$(error Say which kernel tree: make $@ KDIR=/path/to/linux))

.DEFAULT_GOAL := help
.PHONY: run test graft ungraft graft-plan menuconfig shell bench bench-cid bench-sysbench coverage fuzz models torture \
	variants outside mutants check docs series series-check clean help

run: ## Build and boot a kernel with the wake queue, run UDP pairs, report (KERNEL, KDIR, CPUS, ROUNDS, SECONDS)
	@$(call go,run) $(source) --cpus '$(CPUS)' --rounds '$(ROUNDS)' --seconds '$(SECONDS)'

test: ## Run the tests for 6.12 and some for 7.3, or those for KERNEL
	@$(call fetched,test) $(if $(filter-out file,$(origin KERNEL)),--version '$(KERNEL)')

graft: ## Put the features into a kernel tree of yours (KDIR)
	@scripts/graft-tree $(kdir)

ungraft: ## Take them out again, byte for byte (KDIR)
	@scripts/ungraft-tree $(kdir)

graft-plan: ## Say what graft would do, change nothing (KDIR)
	@scripts/graft-tree --plan $(kdir)

menuconfig: ## Change the options of the kernel that 'make run' builds (KERNEL, KDIR)
	@$(call go,menuconfig) $(source)

shell: ## A guest to play in, knobs mounted (KERNEL, KDIR, CPUS)
	@$(call go,shell) $(source) --cpus '$(CPUS)'

bench: ## Instructions per switch, thread and fork: stock, features off, features on (KERNEL, KDIR)
	@$(call go,bench-icount) $(source)

bench-cid: ## What keep_ms does to ids, and what that costs (KERNEL, KDIR)
	@$(call go,bench-cid) $(source)

bench-sysbench: ## PostgreSQL and sysbench in the guest: which way ids are given (KERNEL, KDIR, CPUS)
	@$(call go,bench-sysbench) $(source) --cpus '$(CPUS)'

torture: ## Torture both structures in the debug guest (KERNEL, CPUS, SECONDS)
	@$(call fetched,torture) --version '$(KERNEL)' --cpus '$(CPUS)' $(if $(filter-out file default,$(origin SECONDS)),--seconds '$(SECONDS)')

variants: ## KUnit suites and a load under KCSAN, PREEMPT_RT, PREEMPT_NONE and fault injection (KERNEL)
	@$(call fetched,test-guest-variants) --version '$(KERNEL)'

outside: ## Other people's tests, stock against grafted: kselftest, stress-ng, rt-tests, sysbench (KERNEL, CPUS)
	@$(call fetched,outside) --version '$(KERNEL)' --cpus '$(CPUS)'

coverage: ## Lines and branches of the structure files that the suites reach
	@$(call go,coverage)

fuzz: ## Fuzz both structures against naive models, SECONDS each (60)
	@$(call go,fuzz) $(if $(filter-out file,$(origin SECONDS)),--seconds '$(SECONDS)')

models: ## Check the models of both protocols with spin (LONG=1 for all sizes)
	@$(call go,models) $(if $(LONG),--long)

check: ## Static checks of the sources: checkpatch, sparse, kernel-doc, W=1, coccicheck (KERNEL)
	@$(call fetched,test) --version '$(KERNEL)' static

docs: ## Build the documentation and fail on any warning (KERNEL)
	@$(call fetched,test) --version '$(KERNEL)' docs

series: ## Write the features as patches, with a cover letter and recipients (KERNEL, KDIR, NAME, EMAIL)
	@$(call go,series) $(source) --name '$(subst ','\'',$(NAME))' --email '$(subst ','\'',$(EMAIL))'

series-check: ## Check the series commit by commit: half an hour (KERNEL, KDIR)
	@$(call go,series-check) $(source)

mutants: ## Break the sources in small ways and see which test notices (NUMBER, SEED)
	@$(call go,mutants) --number '$(NUMBER)' --seed '$(SEED)'

clean: ## Remove out/; the cache of sources and objects stays
	@scripts/clean

help: ## Show this
	@echo "Usage: make TARGET [VARIABLE=value]..."
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'
	@echo
	@echo "  KERNEL=6.12    the kernel to fetch"
	@echo "  KDIR=tree      a kernel tree of yours instead; only graft and ungraft change it"
	@echo "  CPUS=8         CPUs of the guest; 72 is the report's server, 2 sockets x 18 cores x 2 threads"
	@echo "  NAME= EMAIL=   who submits the series; git config user.name and user.email otherwise"
	@echo "  NUMBER=150 SEED=1   how many breakages 'mutants' makes, and which"
	@echo "  ROUNDS=5 SECONDS=4   how often and how long 'run' measures each setting"
