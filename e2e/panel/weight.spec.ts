import { EMPTY_PAGE_KB, pageWeights } from "@/scripts/page-weight";
import { expect, test } from "./panel";

/** How much JavaScript a page may load above an empty page of Next, in KB as `gzip -9` counts. */
const LIMIT_KB = 110;
/** For pages that do not keep the limit yet. It may only fall. */
const LIMIT_UNTIL_THEN_KB = 170;
/** The pages that keep the limit. The list may only grow. */
const LIGHT = ["_not-found", "(panel)/jobs/[jobId]"];
const isLight = (page: string) =>
  LIGHT.includes(page) || /^\(public\)\/(device|docs|invitation|sign-in|signed-in)$/.test(page);

test("no page loads more than its limit", () => {
  const weights = pageWeights(".next");
  expect(weights.filter(({ page }) => isLight(page)).length).toBeGreaterThan(5);
  const over = weights.filter(
    ({ page, kb }) => kb - EMPTY_PAGE_KB > (isLight(page) ? LIMIT_KB : LIMIT_UNTIL_THEN_KB),
  );
  expect(over).toEqual([]);
});
