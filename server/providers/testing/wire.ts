import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import type { TextCall } from "../define";
import { type Arrived, type Script, startVendor, type Vendor } from "./vendor";

/*
 * Compares the request of a vendor's own client with ours for the same call. If a vendor publishes an npm client, add
 * it as a dev dependency and write `<provider>.wire.test.ts` with `sendsWhatItsClientSends`.
 */

/** One request, in a form that makes two clients comparable. */
type Sent = {
  method: string;
  path: string;
  headers: Record<string, string>;
  /**
   * Parsed JSON; for a multipart form the list of its parts, sorted by name; null without a body; any other body as
   * text.
   */
  body: unknown;
};

type Part = { name: string; value: string } | { name: string; file: string; type: string; base64: string };

/** Reads a recorded request. Forms become lists of parts, so their boundaries and order do not matter. */
export async function readSent({ method, path, headers, body, bytes }: Arrived): Promise<Sent> {
  const type = headers["content-type"] ?? "";
  const words = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  const sent = { method, path, headers: Object.fromEntries(words) };
  if (type.startsWith("multipart/form-data")) {
    const request = new Response(new Uint8Array(bytes), { headers: { "content-type": type } });
    const parts = await Promise.all([...(await request.formData())].map(toPart));
    const byName = parts.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return { ...sent, headers: { ...sent.headers, "content-type": "multipart/form-data" }, body: byName };
  }
  if (body === "") return { ...sent, body: null };
  return { ...sent, body: type.startsWith("application/json") ? JSON.parse(body) : body };
}

async function toPart([name, value]: [string, FormDataEntryValue]): Promise<Part> {
  if (typeof value === "string") return { name, value };
  const base64 = Buffer.from(await value.arrayBuffer()).toString("base64");
  return { name, file: value.name, type: value.type, base64 };
}

/** Headers of the connection and of the client, which do not depend on the call. Names can end in `*`. */
const NEVER_COMPARED = [
  ...["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "accept-language"],
  ...["accept", "user-agent", "sec-fetch-mode", "priority"],
];

export type WireComparison = {
  title: string;
  /** The vendor's answer to both. */
  answer: Script;
  /** The same call by the vendor's own client, and by ours. Their results do not matter. */
  theirs(baseUrl: string): Promise<unknown>;
  ours(baseUrl: string): Promise<unknown>;
  /**
   * Differences between the two bodies, by path (`store`, `text.format.strict`; `image.filename` for a form's part),
   * each with its reason. A listed path that no longer differs fails the test.
   */
  bodyDiffers?: Record<string, string>;
};

/** Defines one test per case: method, path, headers and body must be equal, except for listed differences. */
export function sendsWhatItsClientSends(
  name: string,
  cases: WireComparison[],
  /** Headers that only one of the two sends, with the reason; names can end in `*`. */
  headersDiffer: Record<string, string> = {},
): void {
  describe(`${name} sends what the vendor's own client sends`, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());

    const sentBy = async (answer: Script, call: (baseUrl: string) => Promise<unknown>): Promise<Sent> => {
      vendor.answer(answer);
      const outcome = await call(vendor.url).catch((error: unknown) => error);
      const [first, ...more] = await Promise.all(vendor.arrived.map(readSent));
      if (!first) throw new Error("Nothing was sent.", { cause: outcome });
      expect(more, "requests beside the first").toEqual([]);
      return first;
    };

    test.each(cases.map((each) => [each.title, each] as const))("%s", async (_title, each) => {
      const theirs = await sentBy(each.answer, each.theirs);
      const ours = await sentBy(each.answer, each.ours);
      for (const path of Object.keys(each.bodyDiffers ?? {}))
        expect(at(ours.body, path), `${path} is named as a difference`).not.toEqual(at(theirs.body, path));
      const ignored = Object.keys(each.bodyDiffers ?? {});
      const unnamed = (sent: Sent) => ({
        method: sent.method,
        path: sent.path,
        headers: withoutHeaders(sent.headers, [...NEVER_COMPARED, ...Object.keys(headersDiffer)]),
        body: ignored.reduce(without, sent.body),
      });
      expect(unnamed(ours)).toEqual(unnamed(theirs));
    });
  });
}

function withoutHeaders(headers: Record<string, string>, names: string[]): Record<string, string> {
  const isNamed = (header: string) =>
    names.some((name) => (name.endsWith("*") ? header.startsWith(name.slice(0, -1)) : header === name));
  return Object.fromEntries(Object.entries(headers).filter(([header]) => !isNamed(header)));
}

/** The value at a path; for a form, the first segment is the name of a part. */
function at(body: unknown, path: string): unknown {
  const [first = "", ...rest] = path.split(".");
  if (!Array.isArray(body)) return rest.reduce(child, child(body, first));
  return body.filter((part) => part.name === first).map((part) => rest.reduce(child, part));
}
const child = (value: unknown, word: string): unknown => (isObject(value) ? value[word] : undefined);

function without(body: unknown, path: string): unknown {
  const [first = "", ...rest] = path.split(".");
  if (Array.isArray(body)) {
    const isOther = (part: Part) => part.name !== first;
    if (rest.length === 0) return body.filter(isOther);
    return body.map((part) => (isOther(part) ? part : without(part, rest.join("."))));
  }
  if (!isObject(body)) return body;
  const { [first]: inner, ...others } = body;
  return rest.length === 0 || inner === undefined
    ? others
    : { ...others, [first]: without(inner, rest.join(".")) };
}

const ASKED = [
  { id: "call_1", name: "depth_of", arguments: '{"river":"Elbe"}' },
  { id: "call_2", name: "width_of", arguments: '{"river":"Elbe"}' },
];
const TOOLS = ["depth_of", "width_of"];

/** The second turn of a tool loop: the results of two tools that were called together. */
export const secondTurn = (
  parameters: Json,
  words = "I will look.",
): Required<Pick<TextCall, "messages" | "tools">> => ({
  messages: [
    { role: "user", content: "How deep and wide is the Elbe?" },
    { role: "assistant", content: words, toolCalls: ASKED },
    { role: "tool", content: "12 m", toolCallId: "call_1" },
    { role: "tool", content: '{"metres":300}', toolCallId: "call_2" },
  ],
  tools: TOOLS.map((name) => ({ type: "function", name, parameters })),
});

/** The same in the form of chat completions. */
export const secondChatTurn = (
  parameters: Record<string, unknown>,
  content: string | null = "I will look.",
) => ({
  messages: [
    { role: "user" as const, content: "How deep and wide is the Elbe?" },
    {
      role: "assistant" as const,
      content,
      tool_calls: ASKED.map(({ id, ...asked }) => ({ id, type: "function" as const, function: asked })),
    },
    { role: "tool" as const, content: "12 m", tool_call_id: "call_1" },
    { role: "tool" as const, content: '{"metres":300}', tool_call_id: "call_2" },
  ],
  tools: TOOLS.map((name) => ({ type: "function" as const, function: { name, parameters } })),
});
