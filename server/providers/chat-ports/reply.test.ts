import { expect, test } from "vitest";
import { keptParts } from "./reply";

const THOUGHT = { type: "thinking", thinking: [{ type: "text", text: "Hm." }], closed: true };
const SAID = { type: "text", text: "Hello" };

test("content is sent back in its original parts, without cache marks", () => {
  const cache_control = { type: "ephemeral", ttl: "1h" };
  expect(keptParts([THOUGHT, SAID], "Hello")).toEqual([THOUGHT, SAID]);
  expect(
    keptParts(
      [
        { ...THOUGHT, cache_control },
        { ...SAID, cache_control },
      ],
      "Hello",
    ),
  ).toEqual([THOUGHT, SAID]);
});

test.each<[string, unknown]>([
  ["other words", [THOUGHT, { type: "text", text: "Bye" }]],
  ["a picture", [SAID, { type: "image_url", image_url: { url: "https://example.com/a.png" } }]],
  ["a text alone", "Hello"],
  ["nothing", undefined],
])("content whose parts are %s is sent as text", (_case, parts) => {
  expect(keptParts(parts, "Hello")).toBeNull();
});
