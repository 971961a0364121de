import { expect, test } from "vitest";
import { billingHref, readBillingState } from "@/components/billing/billing-state";
import { plansHref, readPlansPlace } from "@/components/operator/list-state";
import { logHref, readLogState } from "@/components/webhooks/list-state";
import { newerPage, olderPage, type PagePosition, type SearchParams } from "./paging";

const cursorsOf = (prefix: string) => [1, 2, 3].map((page) => `${prefix}_${String(page).repeat(26)}`);

test.each([
  ["transactions", { read: readBillingState, href: billingHref, cursors: ["30", "20", "10"] }],
  ["plans", { read: readPlansPlace, href: plansHref, cursors: cursorsOf("org") }],
  [
    "deliveries",
    {
      read: readLogState,
      href: (state: PagePosition) => logHref("cpr_1", { state: "failed", ...state }),
      cursors: cursorsOf("dlv"),
    },
  ],
])("%s: the URL alone leads from any page back to the previous one", (_, { read, href, cursors }) => {
  const follow = (place: PagePosition): PagePosition => {
    const { searchParams } = new URL(href(place), "http://panel");
    return read(Object.fromEntries(searchParams) as SearchParams);
  };
  const pages: PagePosition[] = [follow({})];
  for (const cursor of cursors) pages.push(follow(olderPage(pages.at(-1)!, cursor)));
  expect(pages.map(({ cursor }) => cursor)).toEqual([undefined, ...cursors]);
  for (const [number, page] of pages.slice(1).entries())
    expect(follow(newerPage(page)!)).toEqual(pages[number]);
  expect(newerPage(pages[0]!)).toBe(null);
  expect(read({ cursor: "no cursor", organizationId: "" })).toEqual({});
});
