// SPDX-License-Identifier: GPL-2.0
/*
 * Runs suites in user space, and prints KTAP as the kernel's KUnit does.
 *
 *	run [--first] [SUITE...]
 *
 * SUITE is a suite's name; without one all suites run. With --first the run ends at
 * the first failure and prints only this failure, and each allocation ends at the end
 * of a page in front of a guard page, for builds without sanitizers.
 *
 * Exit status: 0; 1 if a case failed; 2 if a case failed with --first, or if there is
 * no such suite.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kunit.h"
#include "system.h"

/* An allocation of kunit_kmalloc() */
struct block {
	struct block	*next;
	void		*memory;
	void		*pages;		/* start of the mapping, with --first */
	size_t		room;
};

static struct block *blocks;
static bool first, failed;
static char skipped[128];	/* the reason, or empty */
static jmp_buf end_of_case;

/* Allocate memory that ends at a guard page. */
static void *fence(struct block *b, size_t size)
{
	b->room = round_up(size, PAGE_SIZE) + PAGE_SIZE;
	b->pages = mmap(NULL, b->room, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->pages == MAP_FAILED ||
	    mprotect((char *)b->pages + b->room - PAGE_SIZE, PAGE_SIZE,
		     PROT_NONE))
		abort();
	return (char *)b->pages + b->room - PAGE_SIZE - size;
}

static void *allocate(size_t size, int fill)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->memory = first ? fence(b, size) : malloc(size);
	if (!b->memory)
		abort();
	memset(b->memory, fill, size);
	b->next = blocks;
	blocks = b;
	return b->memory;
}

void *kunit_kmalloc(struct kunit *test, size_t size, int gfp)
{
	return allocate(size, 0xa5);
}

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	return allocate(size, 0);
}

void kunit_kfree(struct kunit *test, const void *memory)
{
	struct block **b, *gone;

	for (b = &blocks; *b && (*b)->memory != memory; b = &(*b)->next)
		;
	gone = *b;
	if (!gone)
		abort();
	*b = gone->next;
	if (gone->pages)
		munmap(gone->pages, gone->room);
	else
		free(gone->memory);
	free(gone);
}

static void free_all(void)
{
	while (blocks)
		kunit_kfree(NULL, blocks->memory);
}

void host_fail(struct kunit *test, bool fatal, const char *file, int line,
	       const char *what, const char *fmt, ...)
{
	va_list args;

	printf("        # %s:%d: not true: %s", file, line, what);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	if (first)
		exit(2);
	failed = true;
	if (fatal)
		longjmp(end_of_case, 1);
}

void host_skip(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(skipped, sizeof(skipped), fmt, args);
	va_end(args);
	longjmp(end_of_case, 1);
}

static bool run_once(const struct kunit_suite *suite, const struct kunit_case *c,
		     const void *param)
{
	struct kunit test = { .param_value = param };

	failed = false;
	*skipped = '\0';
	if (!setjmp(end_of_case)) {
		if (!suite->init || !suite->init(&test))
			c->run_case(&test);
		else if (first)
			exit(2);
		else
			failed = true;
	}
	if (suite->exit && !setjmp(end_of_case))
		suite->exit(&test);
	if (!host_case_ended()) {
		if (first)
			exit(2);
		failed = true;
	}
	free_all();
	return !failed;
}

__printf(1, 2) static void print(const char *fmt, ...)
{
	va_list args;

	if (first)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}

static void result(const char *indent, bool good, unsigned int number,
		   const char *name)
{
	print("%s%sok %u %s%s%s\n", indent, good ? "" : "not ", number, name,
	      *skipped ? " # SKIP " : "", skipped);
	*skipped = '\0';
}

static bool run_params(const struct kunit_suite *suite,
		       const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	const void *param = NULL;
	bool good = true, passed;
	unsigned int n = 0;

	print("        KTAP version 1\n        # Subtest: %s\n", c->name);
	while ((param = c->generate_params(param, desc))) {
		passed = run_once(suite, c, param);
		result("        ", passed, ++n, desc);
		good &= passed;
	}
	return good && n;
}

static bool run_suite(const struct kunit_suite *suite, unsigned int number)
{
	const struct kunit_case *c;
	bool good = true, passed;
	unsigned int n = 0;

	for (c = suite->test_cases; c->run_case; c++)
		n++;
	print("    KTAP version 1\n    # Subtest: %s\n    1..%u\n",
	      suite->name, n);
	n = 0;
	for (c = suite->test_cases; c->run_case; c++) {
		passed = c->generate_params ? run_params(suite, c) :
					      run_once(suite, c, NULL);
		result("    ", passed, ++n, c->name);
		good &= passed;
	}
	result("", good, number, suite->name);
	return good;
}

/* Return: true if the suite is one of @names, or @names is empty. */
static bool wanted(const struct kunit_suite *suite, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, suite->name))
			return true;
	return false;
}

/* Count the selected suites; run them too if @good is not NULL. */
static unsigned int each_suite(char **names, bool *good)
{
	struct kunit_suite *const *const *list, *const *suite;
	unsigned int n = 0;

	for (list = host_lists; *list; list++) {
		for (suite = *list; *suite; suite++) {
			if (!wanted(*suite, names))
				continue;
			n++;
			if (good)
				*good &= run_suite(*suite, n);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	bool good = true;
	unsigned int n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	first = argc > 1 && !strcmp(argv[1], "--first");
	argv += first ? 2 : 1;
	n = each_suite(argv, NULL);
	if (*argv && n != argc - (first ? 2 : 1)) {
		fprintf(stderr, "no such suite\n");
		return 2;
	}
	print("KTAP version 1\n1..%u\n", n);
	each_suite(argv, &good);
	return good ? 0 : 1;
}
