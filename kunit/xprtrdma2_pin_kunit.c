// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter "pin": valid words, invalid words, and the servers that they match.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../xprtrdma2/pure.h"

struct word_case {
	const char	*word;
	const char	*server;	/* NULL: invalid word */
	unsigned short	port;
	u32		vers;
	unsigned int	fits;
};

static const struct word_case word_cases[] = {
	{ "192.0.2.1=1", "192.0.2.1", 20049, 1, 1 },
	{ "192.0.2.1=2", "192.0.2.2", 20049, 2, 0 },
	{ "192.0.2.1:20050=2", "192.0.2.1", 20050, 2, 2 },
	{ "192.0.2.1:20050=1", "192.0.2.1", 20049, 1, 0 },
	{ "fd00::2=1", "fd00::2", 20049, 1, 1 },
	{ "[fd00::2]=1", "fd00:0:0::2", 1, 1, 1 },
	{ "[fd00::2]:20049=2", "fd00::2", 20049, 2, 2 },
	{ "[fd00::2]:20049=2", "192.0.2.1", 20049, 2, 0 },
	{ "192.0.2.1:65535=1", "192.0.2.1", 65535, 1, 2 },
	{ "192.0.2.1" },
	{ "192.0.2.1=" },
	{ "192.0.2.1=0" },
	{ "192.0.2.1=3" },
	{ "192.0.2.1=two" },
	{ "192.0.2.1=4294967297" },
	{ "192.0.2.1:=1" },
	{ "192.0.2.1:0=1" },
	{ "192.0.2.1:65536=1" },
	{ "192.0.2.1:nfs=1" },
	{ "192.0.2=1" },
	{ "192.0.2.1.5=1" },
	{ "=1" },
	{ ":20049=1" },
	{ "[]=1" },
	{ "[fd00::2=1" },
	{ "[fd00::2]20049=1" },
	{ "[fd00::2]:=1" },
	{ "fd00::2]:20049=1" },
	{ "server.example=1" },
};

static void word_desc(const struct word_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "S34 %s%s%s", c->word,
		 c->server ? " for " : " is refused", c->server ?: "");
}

KUNIT_ARRAY_PARAM(word, word_cases, word_desc);

static void word(struct kunit *test)
{
	const struct word_case *c = test->param_value;
	struct sockaddr_storage server = { };
	struct sockaddr *sap = (struct sockaddr *)&server;
	struct xprt2_pin pin;
	const char *fault;
	char text[64];

	strscpy(text, c->word);
	fault = xprt2_parse_pin(text, &pin);
	if (!c->server) {
		KUNIT_EXPECT_NOT_NULL(test, fault);
		return;
	}
	KUNIT_ASSERT_NULL_MSG(test, fault, "%s", fault);
	KUNIT_EXPECT_EQ(test, pin.pin_vers, c->vers);

	KUNIT_ASSERT_NE(test, 0, rpc_pton(&init_net, c->server,
					  strlen(c->server), sap,
					  sizeof(server)));
	rpc_set_port(sap, c->port);
	KUNIT_EXPECT_EQ(test, xprt2_pin_fits(&pin, sap), c->fits);
}

/* S34: the words of a value, with one that is too long for a pin */
static void words(struct kunit *test)
{
	char value[256] = ",192.0.2.1=1,\t[fd00::2]=2,\n", word[XPRT2_PIN_WORD];
	const char *at = value;
	struct xprt2_pin pin;

	memset(value + 27, 'f', 203);
	memcpy(value + 230, "=1", 2);
	KUNIT_EXPECT_EQ(test, xprt2_pin_next_word(&at, word), 11);
	KUNIT_EXPECT_STREQ(test, word, "192.0.2.1=1");
	KUNIT_EXPECT_EQ(test, xprt2_pin_next_word(&at, word), 11);
	KUNIT_EXPECT_STREQ(test, word, "[fd00::2]=2");
	KUNIT_EXPECT_PTR_EQ(test, at, value + 25);
	KUNIT_EXPECT_EQ(test, xprt2_pin_next_word(&at, word), 205);
	KUNIT_EXPECT_EQ(test, strlen(word), XPRT2_PIN_WORD - 1);
	KUNIT_EXPECT_NOT_NULL(test, xprt2_parse_pin(word, &pin));
	KUNIT_EXPECT_EQ(test, xprt2_pin_next_word(&at, word), 0);
	KUNIT_EXPECT_STREQ(test, word, "");
}

static struct kunit_case pin_cases[] = {
	KUNIT_CASE_PARAM(word, word_gen_params),
	KUNIT_CASE(words),
	{}
};

static struct kunit_suite pin_suite = {
	.name		= "xprtrdma2_pin",
	.test_cases	= pin_cases,
};

kunit_test_suite(pin_suite);
