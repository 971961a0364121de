/* Extracts JSON from the text that models write around it: their thinking up to `</think>`, and a code fence. */

const THOUGHT = "</think>";
const BEGINS_JSON = /^\s*[[{"\-\dtfn]/;
const FENCE = /^\s*```(?:json)?\s*(?=[[{"\-\d])/i;
const FENCE_BEGUN = /^\s*(?:`{0,3}|```[a-z]{0,4}\s*)$/i;
/** Matches the end of a fenced text, or what may become that end. */
const FENCE_END = /\s*(?:`{1,3}\s*)?$/;

/**
 * Passes on a JSON answer that arrives in pieces. A text that begins as JSON passes at once and unchanged. Any other text waits
 * for the end of its thinking or for its fence; without either it passes unchanged at its end.
 */
export function bareJson(tell: (text: string) => void) {
  let state: "begin" | "thinking" | "fenced" | "plain" = "begin";
  let held = "";
  let hasThought = false;
  const pieces: string[] = [];

  const pass = (text: string) => {
    if (text !== "") tell(text);
  };
  /** Passes on the fenced text, except what may be the end of the fence. */
  const passFenced = () => {
    const end = held.search(FENCE_END);
    pass(held.slice(0, end));
    held = held.slice(end);
  };
  const advance = (): void => {
    if (state === "begin" && hasThought) held = held.trimStart();
    if (state === "thinking") {
      const end = held.indexOf(THOUGHT);
      if (end < 0) held = held.slice(1 - THOUGHT.length);
      else {
        held = held.slice(end + THOUGHT.length);
        hasThought = true;
        state = "begin";
        advance();
      }
    } else if (state === "fenced") passFenced();
    else if (state === "plain" || BEGINS_JSON.test(held)) {
      state = "plain";
      pass(held);
      held = "";
    } else if (FENCE.test(held)) {
      state = "fenced";
      held = held.replace(FENCE, "");
      passFenced();
    } else if (!FENCE_BEGUN.test(held)) {
      state = "thinking";
      advance();
    }
  };

  return {
    push(text: string): void {
      if (state === "begin" || state === "thinking") pieces.push(text);
      held += text;
      advance();
    },
    end(): void {
      if (state === "begin" || state === "thinking") pass(pieces.join(""));
      else if (state === "fenced") pass(held.replace(/\s*```\s*$/, ""));
    },
  };
}

/** `bareJson` for a whole text. */
export function bareJsonOf(text: string): string {
  let bare = "";
  const passing = bareJson((piece) => {
    bare += piece;
  });
  passing.push(text);
  passing.end();
  return bare;
}
