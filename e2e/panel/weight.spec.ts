import { EMPTY_PAGE_KB, pageWeights } from "@/scripts/page-weight";
import { expect, test } from "./panel";

/** The most JavaScript that a page may load beyond an empty Next page, in KB after `gzip -9`. The limits may only fall. */
const LIMITS = [
  { pages: /^\(public\)\/(docs|sign-in|signed-in)|^_|^\(panel\)\/jobs\//, kb: 25 },
  { pages: /^\(public\)\//, kb: 70 },
  { pages: /^\(panel\)\//, kb: 100 },
];

test("no page loads more JavaScript than its limit", () => {
  const weights = pageWeights(".next").map(({ page, kb }) => ({ page, kb: kb - EMPTY_PAGE_KB }));
  expect(weights.length).toBeGreaterThan(50);
  const limitOf = (page: string) => LIMITS.find(({ pages }) => pages.test(page))?.kb ?? 0;
  expect(weights.filter(({ page, kb }) => kb > limitOf(page))).toEqual([]);
});
