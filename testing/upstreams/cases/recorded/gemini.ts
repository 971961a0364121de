import { offering, recordings } from "../../recorded";

/* Recorded answers of Gemini, at 1.5 US dollars a million tokens in and 7.5 out. */

const GEMINI = "@ai-sdk/google 3.0.12";
const costOf = (input: number, output: number) => Math.ceil(input * 1.5 + output * 7.5);
const calls = [{ name: "test-tool", arguments: '{"value":"test"}' }];

/** The recordings lack the id and the model, which a pin needs as evidence. */
const pinned = { fails: "PROVIDER_ERROR" } as const;

export const RECORDED_GEMINI = recordings("gemini", {
  "gemini-code-execution": {
    from: GEMINI,
    // Nothing was delivered, and no usage was reported.
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", hold: "released" },
    pinned: { ...pinned, hold: "released" },
  },
  "gemini-code-then-call": {
    from: GEMINI,
    request: offering("test-tool"),
    expect: { calls, finish: "tool_calls", isEstimated: true },
    managed: { isEstimated: false, cost: null, chargesHold: true },
    pinned,
  },
  "gemini-signatures": {
    from: GEMINI,
    expect: { text: "Visible text part 1. Visible text part 2.", finish: "stop", cost: costOf(10, 20) },
    pinned,
  },
  "gemini-signed-call": {
    from: GEMINI,
    request: offering("test-tool"),
    expect: { calls, finish: "tool_calls", cost: costOf(10, 20) },
    pinned,
  },
  "gemini-thoughts": {
    from: GEMINI,
    expect: { text: "the answer is 42", finish: "stop", cost: costOf(10, 15 + 8) },
    pinned,
  },
  "gemini-pictures-in-text": {
    from: GEMINI,
    expect: { text: "Here is an image:And another image:", finish: "stop", cost: costOf(10, 20) },
    pinned,
  },
});
