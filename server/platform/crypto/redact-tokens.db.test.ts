import { expect, test } from "vitest";
import { z } from "zod";
import { makeKeyText, makeTokenText } from "@/server/domain/access";
import { Fault, ValidationFault } from "../errors/errors";
import { issuesOfError, toWire } from "../errors/errors-wire";
import { PREFIXES, ulid } from "../ids";
import { redactText, redactTokens } from "./redact-tokens";

const tokens = [
  makeKeyText("development"),
  makeKeyText("my-own-env-2"),
  makeTokenText("caps"),
  makeTokenText("capp"),
  makeTokenText("plc"),
  "sk-proj-0123456789abcdefABCDEF",
  `hf_${"aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"}`,
  `r8_${"0123456789abcdefABCDEF0123456789abcde"}`,
  `xai-${"0123456789".repeat(8)}`,
  `github_pat_${"0123456789abcdefABCDEF_0123456789abcdefABCDEF0123456789"}`,
  "whsec_0123456789abcdefABCDEF",
];

test.each(tokens)("%s is removed from text: whole and cut short, quoted and in an address", (token) => {
  const pieces = (text: string) => expect(redactText(text), text).not.toContain(token.slice(-12));
  for (const text of [token, `"${token}"`, `?token=${token}&x=1`, `Bearer ${token}.`, `/${token}/jobs`]) {
    pieces(text);
    expect(redactText(text)).toBe(text.replace(token, "[redacted]"));
  }
  expect(redactText(`There is no tool ${token.slice(0, -4)}`)).toBe("There is no tool [redacted]");
});

test.each(["cap_live", "caps", "capp", "plc"])("a piece of a %s token is removed, too", (start) => {
  for (const piece of ["zQ7abcdefghi", "0000000000aB", "Zabcdefghijklmnopqrs1"])
    for (const around of ["", '"'])
      expect(redactText(`${around}${start}_${piece}${around}`)).toBe(`${around}[redacted]${around}`);
});

test("names that people choose are not tokens", () => {
  for (const name of [
    "cap_generatethumbnails",
    "cap_generate_thumbnails_for_2024",
    "caps_capitalizeeverything",
    "plc_siemenscontroller2",
    "hf_portrait_lighting_v2",
    "r8_upscale_realesrgan_v1",
    "sk-portrait-lighting-v2",
    "xai-image-generation-v2",
    "gsk_llama_versatile_70b",
  ]) {
    expect(redactText(`There is no ${name}.`)).toBe(`There is no ${name}.`);
    expect(redactTokens({ [name]: name })).toEqual({ [name]: name });
  }
});

test("a long text of beginnings of tokens is searched within seconds", () => {
  for (const start of ["sk-", "cap_", "cap_a1", "plc_a", "hf_"]) redactText(start.repeat(20_000));
}, 5_000);

test("words and ids are not tokens", () => {
  for (const text of [
    "cap_live_ and caps_ are how ours begin, the cap_development_ one too",
    "text.general.fast.v1 is a capability",
    "a task-based-and-otherwise-long-name, a sk- b",
    ...Object.values(PREFIXES).map((prefix) => `${prefix}_${ulid()}`),
  ])
    expect(redactText(text)).toBe(text);
});

test("a refusal has no token in its message, details or list, and a fault none in its stack", () => {
  const [key = ""] = tokens;
  const refusals = [
    new Fault("NotFound", `There is no ${key}.`, { [key]: { deep: [key] }, at: 1 }),
    new ValidationFault([{ loc: ["body", key], msg: `not ${key}`, type: "value_error", ctx: { key } }]),
    z.strictObject({}).safeParse({ [key]: 1 }).error,
  ];
  for (const refusal of refusals) {
    const wire = JSON.stringify(toWire(refusal, "req_1", true));
    expect(wire).toContain("[redacted]");
    expect(wire).not.toContain(key.slice(-12));
  }
  expect(issuesOfError(refusals[2])).toEqual([
    {
      loc: ["body", "[redacted]"],
      msg: "Unknown field. Remove it or check its spelling.",
      type: "extra_forbidden",
    },
  ]);
  for (const refusal of refusals.slice(0, 2))
    expect(`${refusal?.stack}${JSON.stringify(refusal)}`).not.toContain(key.slice(-12));
});
