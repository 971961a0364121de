import { expect, test } from "vitest";
import { type Conversation, withTurns } from "./conversation";

test("each message gets the marks of its index, in their order", () => {
  const messages = [
    { role: "system" as const, content: "Be brief." },
    { role: "user" as const, content: "Hi" },
  ];
  const cache: Conversation["cache"] = [{ at: 1, end: 1 }, { at: 0 }, { at: 1, ttl: "1h" }];
  expect(withTurns(messages, { cache })).toEqual([
    { ...messages[0], cache: [{}] },
    { ...messages[1], cache: [{ end: 1 }, { ttl: "1h" }] },
  ]);
});

test("200,000 messages get their marks in linear time", { timeout: 20_000 }, () => {
  const messages = Array.from({ length: 200_000 }, () => ({ role: "user" as const, content: "Hi" }));
  const marked = withTurns(messages, { cache: messages.map((_, at) => ({ at })) });
  expect(marked.every(({ cache }) => cache?.length === 1)).toBe(true);
});
