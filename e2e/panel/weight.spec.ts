import { EMPTY_PAGE_KB, pageWeights } from "@/scripts/page-weight";
import { expect, test } from "./panel";

/** How much JavaScript a page may load above an empty page of Next, in KB as `gzip -9` counts. These may only fall. */
const LIMITS = [
  { pages: /^\(public\)\/(docs|sign-in|signed-in)|^_|^\(panel\)\/jobs\//, kb: 25 },
  { pages: /^\(public\)\//, kb: 65 },
  { pages: /^\(panel\)\/.*(\/comparisons\/|\/jobs\/|\/catalog\/|^\(panel\)\/operator\/requests\/)/, kb: 100 },
  { pages: /^\(panel\)\//, kb: 92 },
];

test("no page loads more than its limit", () => {
  const weights = pageWeights(".next").map(({ page, kb }) => ({ page, kb: kb - EMPTY_PAGE_KB }));
  expect(weights.length).toBeGreaterThan(50);
  const limitOf = (page: string) => LIMITS.find(({ pages }) => pages.test(page))?.kb ?? 0;
  expect(weights.filter(({ page, kb }) => kb > limitOf(page))).toEqual([]);
});
