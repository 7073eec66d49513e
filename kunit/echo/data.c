// SPDX-License-Identifier: GPL-2.0
/*
 * Test data: each word is computed from the seed of its message and its offset, so
 * that data of another message, or from another offset of the same message, do not
 * match.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "echo.h"

/**
 * echo_pages_free - free pages of echo_pages_alloc()
 * @pages: the pages, with NULL after the last; or NULL
 */
void echo_pages_free(struct page **pages)
{
	unsigned int i;

	for (i = 0; pages && pages[i]; i++)
		__free_page(pages[i]);
	kvfree(pages);
}

/**
 * echo_pages_alloc - allocate pages
 * @count: number of pages
 *
 * Return: the pages, with NULL after the last; or NULL.
 */
struct page **echo_pages_alloc(unsigned int count)
{
	struct page **pages;
	unsigned int i;

	pages = kvcalloc(count + 1, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i]) {
			echo_pages_free(pages);
			return NULL;
		}
	}
	return pages;
}

static u32 word_at(u32 seed, u32 offset)
{
	return (seed ^ offset) * 0x9e3779b1 + offset;
}

static u8 byte_at(u32 seed, u32 offset)
{
	return word_at(seed, offset & ~3) >> (offset & 3) * 8;
}

/**
 * echo_fill - generate a part of the data
 * @to: destination
 * @seed: of the message
 * @offset: of the part in the message's data
 * @len: bytes
 */
void echo_fill(void *to, u32 seed, u32 offset, u32 len)
{
	u8 *p = to;

	for (; len && offset & 3; len--)
		*p++ = byte_at(seed, offset++);
	for (; len >= 4; len -= 4, offset += 4, p += 4)
		put_unaligned_le32(word_at(seed, offset), p);
	while (len--)
		*p++ = byte_at(seed, offset++);
}

/**
 * echo_check - verify a part of the data
 * @from: the part
 * @seed: of the message
 * @offset: of the part in the message's data
 * @len: bytes
 *
 * Return: 0, or 1 + the offset of the first wrong byte, rounded down to the start of
 * its word where the whole word was compared.
 */
u32 echo_check(const void *from, u32 seed, u32 offset, u32 len)
{
	const u8 *p = from;

	for (; len && offset & 3; len--)
		if (*p++ != byte_at(seed, offset++))
			return offset;
	for (; len >= 4; len -= 4, offset += 4, p += 4)
		if (get_unaligned_le32(p) != word_at(seed, offset))
			return offset + 1;
	while (len--)
		if (*p++ != byte_at(seed, offset++))
			return offset;
	return 0;
}

/* Number of bytes from @done on that are in one page */
static u32 piece(u32 base, u32 done, u32 len)
{
	return min_t(u32, len - done, PAGE_SIZE - offset_in_page(base + done));
}

static void *place(struct page **pages, u32 at)
{
	return page_address(pages[at >> PAGE_SHIFT]) + offset_in_page(at);
}

/**
 * echo_fill_pages - generate all data of a message
 * @pages: destination
 * @base: offset of the data in the first page
 * @seed: of the message
 * @len: bytes
 */
void echo_fill_pages(struct page **pages, u32 base, u32 seed, u32 len)
{
	u32 done, n;

	for (done = 0; done < len; done += n) {
		n = piece(base, done, len);
		echo_fill(place(pages, base + done), seed, done, n);
	}
}

/**
 * echo_check_pages - verify all data of a message
 * @pages: the data
 * @base: offset of the data in the first page
 * @seed: of the message
 * @len: bytes
 *
 * Return: as echo_check().
 */
u32 echo_check_pages(struct page **pages, u32 base, u32 seed, u32 len)
{
	u32 done, n, bad = 0;

	for (done = 0; !bad && done < len; done += n) {
		n = piece(base, done, len);
		bad = echo_check(place(pages, base + done), seed, done, n);
	}
	return bad;
}
