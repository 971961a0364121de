import { offering, recordings } from "../../recorded";
import type { Expected } from "../../upstream";

/* Recorded answers of Claude, many of which use the vendor's own tools. */

const CLAUDE = "@ai-sdk/anthropic 3.0.21";

/** A million tokens cost 1 US dollar in and 5 out. */
const costOf = (input: number, output: number) => input + output * 5;
const answered = (text: string, cost: number): Expected => ({ text, calls: [], finish: "stop", cost });
const called = (id: string, name: string, input: object, cost: number): Expected => ({
  calls: [{ id, name, arguments: JSON.stringify(input) }],
  finish: "tool_calls",
  cost,
});
/** The vendor's own tools read more tokens than the hold of so short a request covers. */
const managed: Expected = { exceedsHold: true };
const SAN_FRANCISCO = { location: "San Francisco" };

export const RECORDED_MESSAGES = recordings("messages", {
  "claude-code-execution": {
    from: CLAUDE,
    expect: answered(
      "I'll create a Python script to calculateNow let me execute the script:Perfect! The script has been created and",
      costOf(7_881, 608),
    ),
    ofStream: answered(
      "I'll create a Python script to calculateNow let's execute the script to find thePerfect! The script has been created and",
      costOf(8_050, 771),
    ),
    managed,
  },
  "claude-mcp": {
    from: CLAUDE,
    expect: answered('The echo tool responded back with: **"he', costOf(1_250, 88)),
    ofStream: answered("The echo tool responded back with: **hel", costOf(1_250, 83)),
  },
  // Code that the model runs made the call of the caller's tool.
  "claude-programmatic-calls": {
    from: CLAUDE,
    request: offering("rollDie"),
    expect: {
      ...called("toolu_019jKkXz4jAdwHweHBw92CVY", "rollDie", { player: "player1" }, costOf(3_369, 725)),
      text: "I'll help you simulate this game between",
    },
  },
  // An answer that continues with that code has its call in the first event, and no usage.
  "claude-call-in-first-event": {
    from: CLAUDE,
    request: offering("rollDie"),
    expect: {
      calls: [{ id: "toolu_015dGLMbwBKv1ZRQr6KdJzeH", name: "rollDie", arguments: '{"player":"player2"}' }],
      finish: "tool_calls",
      isEstimated: true,
    },
    managed: { isEstimated: false, cost: null, chargesHold: true },
  },
  "claude-tool-without-arguments": {
    from: CLAUDE,
    request: offering("updateIssueList"),
    expect: {
      ...called("toolu_01LRmxn9vGM1d2DZSDBowdZ1", "updateIssueList", {}, costOf(602, 93)),
      text: "<thinking>\nThe updateIssueList tool was ",
    },
    ofStream: {
      ...called("toolu_01QE1WLsSVp5hy5Q3GmGTmjP", "updateIssueList", {}, costOf(565, 48)),
      text: "I'll update the issue list for you.",
    },
  },
  "claude-tool-search": {
    from: CLAUDE,
    request: offering("get_temp_data"),
    expect: {
      ...called(
        "toolu_01X4r989CAhzqnFqDJn1gVvp",
        "get_temp_data",
        { location: "San Francisco, CA", unit: "fahrenheit" },
        costOf(1_676, 184),
      ),
      text: "I found a tool to get temperature data! ",
    },
    ofStream: {
      ...called(
        "toolu_01UmPwkecewaEpMupy2ywk8b",
        "get_temp_data",
        { location: "San Francisco, CA" },
        costOf(1_681, 163),
      ),
      text: "Great! I found a weather tool. Let me ge",
    },
  },
  "claude-web-fetch": {
    from: CLAUDE,
    expect: answered(
      "I'll fetch the Wikipedia page about MaglThis Wikipedia page is about the **Magle",
      costOf(4_234, 462),
    ),
    ofStream: answered(
      "I'll fetch the content from that WikipedThis Wikipedia page is about the **Magle",
      costOf(4_230, 446),
    ),
  },
  "claude-web-fetch-refused": {
    from: CLAUDE,
    expect: answered(
      "I'll fetch the PDF document from the URLI'm unable to access the PDF document at",
      costOf(1_902, 214),
    ),
  },
  "claude-web-search": {
    from: CLAUDE,
    expect: answered(
      "Let me search for more specific tech newBased on the search results, here are thCaroline Ellison, Sam Bankman-Fried's ri\n\nUnfortunately, the search results don'Anthropic has launched a Chrome extensio\n\n- Chinese AI firm DeepSeek has unveiled it\n\n## Technology Industry Context:\nThe te",
      costOf(27_118, 600),
    ),
    ofStream: answered(
      "Based on my search results, here are theApple today announced the grand reopenin Opened in 2003 as Apple's first store ou",
      costOf(15_665, 795),
    ),
    managed,
  },
  "claude-json-tool": {
    from: CLAUDE,
    request: offering("weather"),
    expect: called("toolu_01PQjhxo3eirCdKNvCJrKc8f", "weather", SAN_FRANCISCO, costOf(843, 28)),
    ofStream: called("toolu_019Zvehfe1XQWweT1pm7okyt", "weather", SAN_FRANCISCO, costOf(843, 28)),
  },
  "claude-memory": {
    from: CLAUDE,
    request: offering("memory"),
    expect: called(
      "toolu_01TvNvpwszD4hKeudmbfyWiV",
      "memory",
      { command: "view", path: "/memories" },
      costOf(1_614, 69),
    ),
  },
  "claude-input-counted-at-end": {
    from: CLAUDE,
    expect: answered("pong", costOf(61, 2)),
  },
  "claude-text-then-tool": {
    from: CLAUDE,
    request: offering("json"),
    expect: {
      ...called(
        "toolu_01KFbKqPYSuAKujiL6mTfzYA",
        "json",
        { elements: [{ ...SAN_FRANCISCO, temperature: 58, condition: "sunny" }] },
        costOf(849, 47),
      ),
      text: "I'll invoke the JSON response tool.",
    },
  },
  "claude-thinking": {
    from: CLAUDE,
    expect: answered("Hello, World!", costOf(17, 227)),
  },
  "claude-redacted-thinking": {
    from: CLAUDE,
    expect: answered("Hello, World!", costOf(17, 227)),
  },
  "claude-page-citation": {
    from: CLAUDE,
    expect: answered("Based on the document, results show growth.", costOf(17, 227)),
  },
});
