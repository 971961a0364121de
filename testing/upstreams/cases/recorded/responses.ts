import { offering, recordings } from "../../recorded";
import { type Expected, REFUSED, said } from "../../upstream";

/* Recorded answers of the Responses API and its copies, many of which use the vendor's own tools. */

const OPENAI = "@ai-sdk/openai 3.0.17";
const XAI = "@ai-sdk/xai 3.0.31";

/** A million tokens cost 1 US dollar in, a tenth of that from the cache, and 6 out. */
const listed = (input: number, output: number, cached = 0) => input - cached + cached / 10 + output * 6;
const costOf = (...counts: Parameters<typeof listed>) => Math.ceil(listed(...counts));
/** An answer without a tier is charged at the tier that a job requested. */
const atFlex = (...counts: Parameters<typeof listed>): Expected => ({
  cost: Math.ceil(listed(...counts) / 2),
});
const answered = (text: string, cost: number): Expected => ({ text, finish: "stop", cost });
/** A call of a tool that the caller cannot have offered, and no text: nothing that the caller could use. */
const empty = (cost: number): Expected => ({ fails: "PROVIDER_EMPTY_OUTPUT", cost });
/** The vendor's own tools read more tokens than the hold of so short a request covers. */
const managed: Expected = { exceedsHold: true };

const QUOTA =
  "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.";

export const RECORDED_RESPONSES = recordings("responses", {
  "openai-web-search": {
    from: OPENAI,
    expect: answered("Short answer first — yes. I pulled sever", costOf(19_681, 3_773, 3_712)),
    ofStream: answered("I checked today’s tech headlines (today ", costOf(31_073, 4_416, 3_712)),
    managed,
  },
  "openai-file-search": {
    from: OPENAI,
    expect: answered("According to the document, an embedding ", costOf(3_700, 741, 2_560)),
    ofStream: answered("According to the document, an embedding ", costOf(3_737, 621, 2_304)),
  },
  "openai-code-interpreter": {
    from: OPENAI,
    expect: answered("I ran 10,000 trials of rolling two dice ", costOf(2_283, 1_928)),
    ofStream: answered("Here’s a simulation of rolling two fair ", costOf(6_047, 1_623, 2_944)),
    managed,
  },
  "openai-mcp": {
    from: OPENAI,
    expect: answered("Yes — the latest results (from Nov 4–6, ", costOf(6_700, 1_078)),
    ofStream: answered("Yes — I searched the web. Major outlets ", costOf(11_791, 963)),
    managed,
  },
  "openai-mcp-approval": {
    from: OPENAI,
    expect: empty(costOf(422, 104)),
    ofStream: empty(costOf(422, 48)),
  },
  // The picture is in an item of its own, and the text is empty.
  "openai-picture": {
    from: OPENAI,
    expect: empty(costOf(3_151, 1_970)),
    ofStream: empty(costOf(2_941, 1_249, 1_920)),
    managed,
  },
  "openai-local-shell": {
    from: OPENAI,
    expect: empty(costOf(407, 24)),
    ofStream: empty(costOf(407, 151)),
  },
  "openai-shell": {
    from: OPENAI,
    expect: empty(costOf(157, 73)),
    ofStream: empty(costOf(145, 41)),
  },
  "openai-patch": {
    from: OPENAI,
    expect: empty(costOf(642, 67)),
  },
  "openai-encrypted-reasoning": {
    from: OPENAI,
    request: offering("calculator"),
    expect: answered("12 + 7 = 19\n19 × 3 = 57\n57 × 10 = 570\n\nFinal result: 570", costOf(865, 163)),
    ofStream: {
      calls: [
        {
          id: "call_AB6AaRZ1FYZB2RwS6A5vbdqn",
          name: "calculator",
          arguments: '{"a":12,"b":7,"op":"add"}',
        },
      ],
      finish: "tool_calls",
      cost: costOf(134, 28),
    },
  },
  "azure-web-search": {
    from: "@ai-sdk/azure 3.0.17",
    expect: answered("Here are three major news stories from t", costOf(10_188, 405)),
    ofStream: answered("Here are three major news stories from t", costOf(5_093, 369)),
    managed,
  },
  "openai-quota-in-stream": {
    from: OPENAI,
    whole: {
      status: 429,
      body: {
        error: { message: QUOTA, type: "insufficient_quota", param: null, code: "insufficient_quota" },
      },
    },
    expect: { ...REFUSED, ...said("insufficient_quota", QUOTA) },
  },
  "xai-web-search": {
    from: XAI,
    expect: answered("xAI is an American artificial intelligen", costOf(1_941, 583, 947)),
    ofStream: answered("xAI is an American artificial intelligen", costOf(1_875, 695, 1_578)),
    job: atFlex(1_941, 583, 947),
  },
  "xai-code-execution": {
    from: XAI,
    expect: answered("55", costOf(1_606, 292, 1_235)),
    job: atFlex(1_606, 292, 1_235),
  },
  "xai-x-search": {
    from: XAI,
    expect: answered("### What People Are Saying About AI on X", costOf(8_397, 1_805, 608)),
    managed,
    job: atFlex(8_397, 1_805, 608),
  },
  "xai-reasoning": {
    from: XAI,
    expect: answered("### Overview of Sonoran Cuisine\nSonoran ", costOf(216, 831, 192)),
  },
});
