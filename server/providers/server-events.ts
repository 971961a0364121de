import { isObject } from "@/server/platform/text/json";
import { parseForeignJson } from "@/server/platform/text/json-text";
import { errorIn } from "./ends";

/** One event of a vendor's stream; `event` is empty if it has no name. */
export type ServerEvent = { event: string; data: string };

/**
 * A reader's decision after an event. `soon`: the finish reason and the usage have arrived, so only the protocol's end
 * mark may follow. `enough`: this was the last event.
 */
export type EventWish = "more" | "soon" | "enough";

/**
 * The JSON object of an event. Undefined for other content, such as `ping`, a list or `[DONE]`; in an event named
 * `error` any content is the error. Throws SyntaxError for malformed JSON.
 */
export function jsonIn({ event, data }: ServerEvent): unknown {
  const value = /^\s*(\{|"|\[(?!DONE\]))/.test(data) ? parseForeignJson(data) : data;
  return isObject(value) || event === "error" ? value : undefined;
}

const LINE_END = /\r\n|\n|\r/;
/** Limits for an error outside the framing: longer JSON, or JSON that seems to end more often than this, is skipped. */
const MOST_BARE = 64 * 1024;
const MOST_TRIES = 32;

/**
 * Reads an event stream in chunks of any size and passes each complete event on. Returns the last decision; after
 * `enough` it reads nothing more. It skips comments, events without data and incomplete events. An error that a server
 * writes without the framing of events is passed on as an event.
 */
export function eventReader(onEvent: (event: ServerEvent) => EventWish): (chunk: Uint8Array) => EventWish {
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  let bare = "";
  let tries = 0;
  let wish: EventWish = "more";

  function take(line: string): void {
    if (line === "") {
      const event = { event: name, data: cutIn(data) ?? data.join("\n") };
      name = "";
      data = [];
      // Servers keep connections open with events without data.
      if (event.data.trim() !== "") wish = onEvent(event);
      return;
    }
    if (isBare(line)) {
      takeBare(`${line}\n`);
      return;
    }
    passOver();
    const cut = line.indexOf(":");
    const field = cut === -1 ? line : line.slice(0, cut);
    const value = cut === -1 ? "" : line.slice(line[cut + 1] === " " ? cut + 2 : cut + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }

  /** Does a line begin or continue JSON outside of a field? */
  const isBare = (line: string) => /^\s*\{/.test(line) || (bare !== "" && !FIELD.test(line));

  function passOver(): void {
    bare = "";
    tries = 0;
  }

  /** Classifies JSON outside of a field. Each try parses all of it, so their number is limited. */
  function saidBy(text: string): ReturnType<typeof saidIn> {
    if (text.length > MOST_BARE || tries >= MOST_TRIES || !text.trimEnd().endsWith("}")) return "broken";
    tries += 1;
    return saidIn(text);
  }

  /** Adds to the JSON outside of a field, and passes it on if it is an error. */
  function takeBare(text: string, said = saidBy(bare + text)): void {
    const whole = bare + text;
    if (said === "broken" && whole.length <= MOST_BARE && tries < MOST_TRIES) bare = whole;
    else passOver();
    if (said !== "error") return;
    // The event that the error interrupts is dropped.
    name = "";
    data = [];
    wish = onEvent({ event: "", data: whole.trim() });
  }

  return (chunk) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    // A final \r may be the first half of \r\n, so it waits for the next chunk.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(LINE_END);
    rest = (lines.pop() ?? "") + text.slice(end);
    for (const line of lines) {
      if (wish === "enough") break;
      take(line);
    }
    // Such an error often ends the stream without a line end.
    if (wish !== "enough" && isBare(rest) && saidBy(bare + rest) === "error") {
      takeBare(rest, "error");
      rest = "";
    }
    return wish;
  };
}

/** A line in the syntax of an event stream: a field, a comment, or an empty line. */
const FIELD = /^(?:data|event|id|retry)?(?::|$)/;

/** Classifies JSON outside of a field. */
function saidIn(text: string): "error" | "nothing" | "broken" {
  try {
    return errorIn(parseForeignJson(text)) ? "error" : "nothing";
  } catch {
    return "broken";
  }
}

/** An error written into an unfinished event: the last line of its data. */
function cutIn(data: readonly string[]): string | null {
  const last = data.at(-1) ?? "";
  return data.length > 1 && last.startsWith("{") && saidIn(last) === "error" ? last : null;
}

const FIELDS = ["data", "event", "id", "retry"];

/** The form of a body by its first characters; null if too few have arrived. */
type Form = "events" | "json" | "other" | null;

/** Detects the form of a body piece by piece, regardless of its media type. */
export function formSniffer(): (piece: Uint8Array) => Form {
  let begun = "";
  return (piece) => {
    // Compared as bytes; a byte order mark and white space can precede either form.
    begun = (begun + Buffer.from(piece).toString("latin1")).replace(/^(?:\u00ef\u00bb\u00bf|\s)+/, "");
    if (/^[{[]/.test(begun)) return "json";
    if (/^(?::|(?:data|event|id|retry)[:\r\n])/.test(begun)) return "events";
    return FIELDS.some((field) => field.startsWith(begun)) ? null : "other";
  };
}
