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

const read = ({ body }: { body: Uint8Array }) => JSON.parse(Buffer.from(body).toString("utf8"));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

for (const signedIn of [false, true]) {
  test(`ready lists say what the catalog says, signed in: ${signedIn}`, () => {
    const queries = [{}, { view: "summary" }, { view: "whole" }, { q: "draw a picture" }, { q: "zzz" }];
    for (const query of queries)
      expect(read(publishedList(query, signedIn))).toEqual(plain(list(query, signedIn)));
  });

  test(`ready descriptors say what the catalog says, signed in: ${signedIn}`, () => {
    for (const capability of allCapabilities)
      expect(read(publishedDescriptor(capability.key, signedIn))).toEqual(
        plain(describeCapability(capability, signedIn)),
      );
  });
}

test("ready targets say what the catalog says", () => {
  for (const capability of allCapabilities)
    expect(read(publishedTargets(capability.key))).toEqual(plain(executionTargets(capability)));
});

test("the same answer has the same tag, another answer another one", () => {
  expect(publishedList({}, false).etag).toBe(publishedList({}, false).etag);
  const tags = [
    publishedList({}, false),
    publishedList({}, true),
    publishedList({ view: "summary" }, false),
    publishedList({ q: "picture" }, false),
  ].map(({ etag }) => etag);
  expect(new Set(tags).size).toBe(tags.length);
});

test("a search keeps nothing: its words are the caller's", () => {
  const [one, other] = [publishedList({ q: "picture" }, false), publishedList({ q: "picture" }, false)];
  expect(one).toEqual(other);
  expect(one).not.toBe(other);
});

test("an unknown key is refused with the nearest ones", () => {
  expect(() => publishedDescriptor("text.general.fats.v1", false)).toThrow(
    expect.objectContaining({ code: "UNKNOWN_CAPABILITY" }),
  );
});
