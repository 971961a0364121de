import { expect, test } from "vitest";
import {
  allCapabilities,
  describeCapability,
  executionTargets,
  list,
  publishedDescriptor,
  publishedList,
  publishedTargets,
} from ".";

/** Returns a viewer without an organization or connections. */
const seen = (signedIn: boolean) => ({ signedIn, organizationId: null, connections: null, mayLeave: true });
const read = ({ body }: { body: Uint8Array }) => JSON.parse(Buffer.from(body).toString("utf8"));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

for (const signedIn of [false, true]) {
  test(`ready lists say what the catalog says, signed in: ${signedIn}`, () => {
    const queries = [{}, { view: "summary" }, { view: "whole" }, { q: "draw a picture" }, { q: "zzz" }];
    for (const query of queries)
      expect(read(publishedList(query, seen(signedIn)))).toEqual(plain(list(query, signedIn)));
  });

  test(`ready descriptors say what the catalog says, signed in: ${signedIn}`, async () => {
    for (const capability of allCapabilities)
      expect(read(await publishedDescriptor(capability.key, seen(signedIn)))).toEqual(
        plain(describeCapability(capability, signedIn)),
      );
  });
}

test("published targets equal those of the catalog", () => {
  for (const capability of allCapabilities)
    expect(read(publishedTargets(capability.key, seen(false)))).toEqual(plain(executionTargets(capability)));
});

test("equal answers have the same tag, and different answers different ones", () => {
  expect(publishedList({}, seen(false)).etag).toBe(publishedList({}, seen(false)).etag);
  const tags = [
    publishedList({}, seen(false)),
    publishedList({}, seen(true)),
    publishedList({ view: "summary" }, seen(false)),
    publishedList({ q: "picture" }, seen(false)),
  ].map(({ etag }) => etag);
  expect(new Set(tags).size).toBe(tags.length);
});

test("a search is not cached, because its words are the caller's", { tags: "long" }, () => {
  const [one, other] = [
    publishedList({ q: "picture" }, seen(false)),
    publishedList({ q: "picture" }, seen(false)),
  ];
  expect(one).toEqual(other);
  expect(one).not.toBe(other);
});

test("an unknown key is refused as UNKNOWN_CAPABILITY", async () => {
  await expect(publishedDescriptor("text.general.fats.v1", seen(false))).rejects.toThrow(
    expect.objectContaining({ code: "UNKNOWN_CAPABILITY" }),
  );
});
