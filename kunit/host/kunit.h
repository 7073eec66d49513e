/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit for user space: the part of <kunit/test.h> that the suites use. run.c runs
 * the suites.
 */
#ifndef _RPCRDMA2_HOST_KUNIT_H
#define _RPCRDMA2_HOST_KUNIT_H

#include <stdio.h>

#include "shim.h"

#define KUNIT_PARAM_DESC_SIZE	128

/* The value in system.h */
#define GFP_KERNEL		1

struct kunit {
	const void	*param_value;
	void		*priv;
};

struct kunit_case {
	const char	*name;
	void		(*run_case)(struct kunit *test);
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char		*name;
	int			(*init)(struct kunit *test);
	void			(*exit)(struct kunit *test);
	struct kunit_case	*test_cases;
};

/* Memory that is freed after the case; kunit_kmalloc() fills it with garbage. */
void *kunit_kmalloc(struct kunit *test, size_t size, int gfp);
void *kunit_kzalloc(struct kunit *test, size_t size, int gfp);
void kunit_kfree(struct kunit *test, const void *memory);
#define kunit_kcalloc(test, n, size, gfp)	kunit_kzalloc(test, (n) * (size), gfp)

/* <kunit/device.h> */
#define kunit_device_register(test, name) \
	((struct device *)kunit_kzalloc(test, sizeof(struct device), GFP_KERNEL))

/* Print the reason of a failure; end the case if @fatal */
void host_fail(struct kunit *test, bool fatal, const char *file, int line,
	       const char *what, const char *fmt, ...) __printf(6, 7);

/* End the case without a verdict */
void host_skip(const char *fmt, ...) __printf(1, 2);

#define kunit_skip(_test, ...)	host_skip(__VA_ARGS__)

#define host_check(_test, _fatal, _good, _what, ...)			\
	do {								\
		if (!(_good))						\
			host_fail(_test, _fatal, __FILE__, __LINE__,	\
				  _what, " " __VA_ARGS__);		\
	} while (0)

#define host_compare(_test, _fatal, _left, _op, _right, ...)		\
	do {								\
		const typeof(_left) _l = (_left);			\
		const typeof(_right) _r = (_right);			\
		char _what[256];					\
									\
		if (_l _op _r)						\
			break;						\
		snprintf(_what, sizeof(_what),				\
			 "%s %s %s: %lld and %lld", #_left, #_op,	\
			 #_right, (long long)_l, (long long)_r);	\
		host_fail(_test, _fatal, __FILE__, __LINE__, _what,	\
			  " " __VA_ARGS__);				\
	} while (0)

#define host_memeq(_test, _fatal, _left, _right, _size)			\
	host_check(_test, _fatal, !memcmp(_left, _right, _size),	\
		   #_left " has the bytes of " #_right)

#define KUNIT_EXPECT_EQ(_test, _l, _r) \
	host_compare(_test, false, _l, ==, _r)
#define KUNIT_EXPECT_EQ_MSG(_test, _l, _r, ...) \
	host_compare(_test, false, _l, ==, _r, __VA_ARGS__)
#define KUNIT_EXPECT_NE(_test, _l, _r) \
	host_compare(_test, false, _l, !=, _r)
#define KUNIT_EXPECT_LT(_test, _l, _r) \
	host_compare(_test, false, _l, <, _r)
#define KUNIT_EXPECT_LE(_test, _l, _r) \
	host_compare(_test, false, _l, <=, _r)
#define KUNIT_EXPECT_GT(_test, _l, _r) \
	host_compare(_test, false, _l, >, _r)
#define KUNIT_EXPECT_GE(_test, _l, _r) \
	host_compare(_test, false, _l, >=, _r)
#define KUNIT_EXPECT_GE_MSG(_test, _l, _r, ...) \
	host_compare(_test, false, _l, >=, _r, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE(_test, _c) \
	host_check(_test, false, _c, #_c)
#define KUNIT_EXPECT_TRUE_MSG(_test, _c, ...) \
	host_check(_test, false, _c, #_c, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE(_test, _c) \
	host_check(_test, false, !(_c), "not " #_c)
#define KUNIT_EXPECT_FALSE_MSG(_test, _c, ...) \
	host_check(_test, false, !(_c), "not " #_c, __VA_ARGS__)
#define KUNIT_EXPECT_NULL(_test, _p) \
	host_check(_test, false, !(_p), #_p " is NULL")
#define KUNIT_EXPECT_NOT_NULL(_test, _p) \
	host_check(_test, false, _p, #_p " is not NULL")
#define KUNIT_EXPECT_PTR_EQ(_test, _l, _r) \
	host_check(_test, false, (_l) == (_r), #_l " == " #_r)
#define KUNIT_EXPECT_STREQ(_test, _l, _r) \
	host_check(_test, false, !strcmp(_l, _r), #_l " says " #_r, \
		   "%s", _l)
#define KUNIT_EXPECT_MEMEQ(_test, _l, _r, _size) \
	host_memeq(_test, false, _l, _r, _size)

#define KUNIT_ASSERT_EQ(_test, _l, _r) \
	host_compare(_test, true, _l, ==, _r)
#define KUNIT_ASSERT_EQ_MSG(_test, _l, _r, ...) \
	host_compare(_test, true, _l, ==, _r, __VA_ARGS__)
#define KUNIT_ASSERT_NE(_test, _l, _r) \
	host_compare(_test, true, _l, !=, _r)
#define KUNIT_ASSERT_LT(_test, _l, _r) \
	host_compare(_test, true, _l, <, _r)
#define KUNIT_ASSERT_LE(_test, _l, _r) \
	host_compare(_test, true, _l, <=, _r)
#define KUNIT_ASSERT_GT(_test, _l, _r) \
	host_compare(_test, true, _l, >, _r)
#define KUNIT_ASSERT_GE(_test, _l, _r) \
	host_compare(_test, true, _l, >=, _r)
#define KUNIT_ASSERT_TRUE(_test, _c) \
	host_check(_test, true, _c, #_c)
#define KUNIT_ASSERT_FALSE(_test, _c) \
	host_check(_test, true, !(_c), "not " #_c)
#define KUNIT_ASSERT_PTR_EQ(_test, _l, _r) \
	host_check(_test, true, (_l) == (_r), #_l " == " #_r)
#define KUNIT_ASSERT_NULL(_test, _p) \
	host_check(_test, true, !(_p), #_p " is NULL")
#define KUNIT_ASSERT_NULL_MSG(_test, _p, ...) \
	host_check(_test, true, !(_p), #_p " is NULL", __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(_test, _p) \
	host_check(_test, true, _p, #_p " is not NULL")
#define KUNIT_ASSERT_MEMEQ(_test, _l, _r, _size) \
	host_memeq(_test, true, _l, _r, _size)

#define KUNIT_CASE(_run)		{ .name = #_run, .run_case = _run }
#define KUNIT_CASE_PARAM(_run, _params) \
	{ .name = #_run, .run_case = _run, .generate_params = _params }

/* Each entry of @_array is a parameter; @_describe prints its name. */
#define KUNIT_ARRAY_PARAM(_name, _array, _describe)			\
	static const void *_name##_gen_params(const void *prev, char *desc) \
	{								\
		typeof(&(_array)[0]) next = prev;			\
									\
		next = next ? next + 1 : &(_array)[0];			\
		if (next == &(_array)[ARRAY_SIZE(_array)])		\
			return NULL;					\
		_describe(next, desc);					\
		return next;						\
	}

#define KUNIT_ARRAY_PARAM_DESC(_name, _array, _member)			\
	static void _name##_describe(typeof(&(_array)[0]) entry,	\
				     char *desc)			\
	{								\
		snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s",		\
			 entry->_member);				\
	}								\
	KUNIT_ARRAY_PARAM(_name, _array, _name##_describe)

/*
 * The list of a file's suites has the name of the file, which the Makefile passes in
 * HOST_SUITES. prepare.sh generates the list of these lists.
 */
extern struct kunit_suite *const *const host_lists[];

#define kunit_test_suites(...) \
	struct kunit_suite *const HOST_SUITES[] = { __VA_ARGS__, NULL }
#define kunit_test_suite(_suite)	kunit_test_suites(&(_suite))

#endif /* _RPCRDMA2_HOST_KUNIT_H */
