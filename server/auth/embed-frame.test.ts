import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";

const HERE = "https://capstan.example";
type Message = { data: { protocol: string; type: string }; origin: string; source: unknown };

test("a frame that reloads and asks again gets its session again, and no other frame does", () => {
  const posted: unknown[] = [];
  const frame = {
    style: {},
    remove() {},
    contentWindow: { postMessage: (message: unknown, origin: string) => posted.push([message, origin]) },
  };
  let hear: (message: Message) => void = () => {};
  const window: {
    CapstanFrame?: new (options: object) => { send(message: object): void };
    addEventListener(type: string, listener: typeof hear): void;
  } = {
    addEventListener: (_type, listener) => {
      hear = listener;
    },
  };
  runInNewContext(readFileSync(new URL("../../public/capstan-panel.js", import.meta.url), "utf8"), {
    URL,
    URLSearchParams,
    HTMLElement: class {},
    customElements: { get: () => true },
    document: { currentScript: { src: `${HERE}/capstan-panel.js` }, createElement: () => frame },
    window,
  });
  const hello = (more: Partial<Message> = {}) =>
    hear({
      data: { protocol: "service.panel.v1", type: "hello" },
      origin: HERE,
      source: frame.contentWindow,
      ...more,
    });
  const panel = new window.CapstanFrame!({ parent: { append() {} }, sessionId: "pses_1" });
  panel.send({ type: "session", token: "one" });
  panel.send({ type: "theme", theme: "dark" });
  expect(posted.splice(0)).toEqual([]);
  const said = (message: object) => [{ protocol: "service.panel.v1", ...message }, HERE];
  hello();
  expect(posted.splice(0)).toEqual([
    said({ type: "session", token: "one" }),
    said({ type: "theme", theme: "dark" }),
  ]);
  hello();
  expect(posted.splice(0)).toEqual([said({ type: "session", token: "one" })]);
  panel.send({ type: "session", token: "two" });
  posted.length = 0;
  hello({ origin: "https://evil.example" });
  hello({ source: {} });
  expect(posted).toEqual([]);
  hello();
  expect(posted).toEqual([said({ type: "session", token: "two" })]);
});
