import { expect, test } from "vitest";
import { redactStream, redactValue, tells } from "./redact-secrets";
import { toSecrets } from "./secret";

const SECRET = "sk-abcabcab-0123456789-abcabc";
const LONGER = `${SECRET}-and-more`;
const credentials = toSecrets({ apiKey: SECRET, other: LONGER, short: "not-needed" });

/** The output after each of these pieces, and the output at the end. */
function redacted(pieces: string[]) {
  const out: string[] = [];
  let last = "";
  const stream = redactStream(credentials, (text) => {
    last += text;
  });
  for (const piece of pieces) {
    stream.push(piece);
    out.push(last);
    last = "";
  }
  stream.end();
  return { out, end: last };
}

test("ordinary text is passed on piece by piece", () => {
  const pieces = ["How ", "deep are", " the rivers? ", "ask", " not-needed"];
  expect(redacted(pieces)).toEqual({
    out: ["How ", "deep are", " the rivers? ", "a", "sk not-needed"],
    end: "",
  });
});

test("a possible beginning of a secret is held back, and no longer than needed", () => {
  expect(redacted(["x sk-", "abc", "d y"])).toEqual({ out: ["x ", "", "sk-abcd y"], end: "" });
  expect(redacted(["x sk-"])).toEqual({ out: ["x "], end: "sk-" });
});

test("secrets are removed however a text is cut", () => {
  const text = `a sk-abcab${SECRET}b ${LONGER}c ${SECRET}${SECRET} sk-abcab!`;
  for (let size = 1; size <= text.length; size++) {
    const { out, end } = redacted(text.match(new RegExp(`.{1,${size}}`, "g")) ?? []);
    expect(out.join("") + end).toBe("a sk-abcab[redacted]b [redacted]c [redacted][redacted] sk-abcab!");
  }
});

test("an answer that ends within a secret does not reveal its beginning", () => {
  expect(redacted([`I heard ${SECRET.slice(0, -1)}`]).end).toBe("[redacted]");
  expect(redacted([`I heard ${LONGER.slice(0, -1)}`]).end).toBe("[redacted]");
});

const FORMS = [
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(`Bearer ${SECRET}`).toString("base64"),
  Buffer.from(`user:${SECRET}`).toString("base64url"),
  Buffer.from(SECRET).toString("hex"),
  Buffer.from(SECRET).toString("hex").toUpperCase(),
  Buffer.from(SECRET).toString("hex").replaceAll(/../g, "%$&"),
];

test.each(FORMS)(
  "a secret written as %s is removed from values and streams, and recognized whole or in part",
  (form) => {
    const decoded = (text: string) =>
      ["base64", "base64url", "hex"]
        .flatMap((encoding) =>
          text.split(/[^\w+/=-]/).map((part) => Buffer.from(part, encoding as "hex").toString()),
        )
        .concat(text, text.replaceAll("%", ""))
        .join("\n");
    const value = JSON.stringify(redactValue({ said: `it is ${form} .` }, credentials));
    for (const text of [value, redacted([...`it is ${form} .`]).out.join("")]) {
      expect(text).toContain("[redacted]");
      expect(decoded(text)).not.toContain(SECRET.slice(4, 16));
    }
    const { apiKey } = credentials;
    expect(tells(`id-${form}`, apiKey!)).toBe(true);
    expect(tells(`id-${form.slice(8, 24)}`, apiKey!)).toBe(true);
    expect(tells("req_011CQ8fYc4a0b1c2d3e4f5", apiKey!)).toBe(false);
  },
);

test("a value has its secrets removed from names and texts, and is unchanged if it has none", () => {
  expect(redactValue({ [SECRET]: [`x${LONGER}`] }, credentials)).toEqual({ "[redacted]": ["x[redacted]"] });
  const twice = [`${SECRET} ${SECRET}`, SECRET];
  expect(redactValue(twice, credentials)).toEqual(["[redacted] [redacted]", "[redacted]"]);
  const plain = { a: [1, "not-needed"] };
  expect(redactValue(plain, credentials)).toBe(plain);
});
