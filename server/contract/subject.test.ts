import { expect, test } from "vitest";
import { subjectOf } from "./subject";

const of = (input: unknown) => subjectOf({ requestSnapshot: { input } as never });

test("the subject is the prompt, the text, or the user's last message", () => {
  expect(of({ prompt: "A kite" })).toBe("A kite");
  expect(of({ text: "Rain on\n a tin roof " })).toBe("Rain on a tin roof");
  const messages = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Yes?" },
    { role: "user", content: "What is a capstan?" },
    { role: "assistant", content: "A winch." },
  ];
  expect(of({ messages, prompt: "Hello" })).toBe("What is a capstan?");
});

test("the subject is cut after 120 whole characters", () => {
  const kites = "🪁".repeat(121);
  expect(of({ prompt: kites })).toBe(`${"🪁".repeat(120)}…`);
  expect(of({ prompt: "🪁".repeat(120) })).toBe("🪁".repeat(120));
});

test("a request without words or without visible content has no subject", () => {
  expect(of({ prompt: "  " })).toBeNull();
  expect(of({ messages: [{ role: "user", content: [{ type: "image_url" }] }] })).toBeNull();
  expect(of([])).toBeNull();
  expect(subjectOf({ requestSnapshot: null })).toBeNull();
});
