import { isObject } from "@/server/platform/text/json";
import { parseForeignJson } from "@/server/platform/text/json-text";
import { errorIn } from "./ends";

/** One event of a vendor's stream; `event` is empty where it has no name. */
export type ServerEvent = { event: string; data: string };

/**
 * A reader's verdict after an event. `soon`: the answer is whole by its own reason and usage, and only the end of its dialect
 * may follow. `enough`: that was the last event.
 */
export type EventWish = "more" | "soon" | "enough";

/**
 * The JSON object of an event. What is none is no event of a dialect, such as `ping`, a list or `[DONE]`, and undefined; in an event
 * named error it is the words of the error. Throws SyntaxError for JSON that is broken.
 */
export function jsonIn({ event, data }: ServerEvent): unknown {
  const value = /^\s*(\{|"|\[(?!DONE\]))/.test(data) ? parseForeignJson(data) : data;
  return isObject(value) || event === "error" ? value : undefined;
}

const LINE_END = /\r\n|\n|\r/;
/** A longer error outside the framing is passed over, and so is one that seems to end more often than this. */
const MOST_BARE = 64 * 1024;
const MOST_TRIES = 32;

/**
 * Reads an event stream chunk by chunk, however it is cut, and passes each whole event on. Returns the reader's last verdict;
 * after `enough` nothing is read. Comments, events without data and events that break off are not passed on. An error that a server
 * writes into the stream without the framing of events is passed on as an event.
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
      // Servers keep a connection open with events that have no data.
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

  /** Does a line begin or continue JSON that is in no field? */
  const isBare = (line: string) => /^\s*\{/.test(line) || (bare !== "" && !FIELD.test(line));

  function passOver(): void {
    bare = "";
    tries = 0;
  }

  /** Judges JSON in no field. Each try reads all of it, so there are few. */
  function saidBy(text: string): ReturnType<typeof saidIn> {
    if (text.length > MOST_BARE || tries >= MOST_TRIES || !text.trimEnd().endsWith("}")) return "broken";
    tries += 1;
    return saidIn(text);
  }

  /** Adds to the JSON in no field, and passes it on where it is an error. */
  function takeBare(text: string, said = saidBy(bare + text)): void {
    const whole = bare + text;
    if (said === "broken" && whole.length <= MOST_BARE && tries < MOST_TRIES) bare = whole;
    else passOver();
    if (said !== "error") return;
    // The event that it breaks off says nothing.
    name = "";
    data = [];
    wish = onEvent({ event: "", data: whole.trim() });
  }

  return (chunk) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    // A last \r may be half of \r\n: it waits for what follows.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(LINE_END);
    rest = (lines.pop() ?? "") + text.slice(end);
    for (const line of lines) {
      if (wish === "enough") break;
      take(line);
    }
    // Such an error often ends the stream without an end of its line.
    if (wish !== "enough" && isBare(rest) && saidBy(bare + rest) === "error") {
      takeBare(rest, "error");
      rest = "";
    }
    return wish;
  };
}

/** A line of an event stream that has a field, or is a comment. */
const FIELD = /^(?:data|event|id|retry)?(?::|$)/;

/** What JSON in no field says. */
function saidIn(text: string): "error" | "nothing" | "broken" {
  try {
    return errorIn(parseForeignJson(text)) ? "error" : "nothing";
  } catch {
    return "broken";
  }
}

/** The error that was written into an event that had not ended: the last line of its data. */
function cutIn(data: readonly string[]): string | null {
  const last = data.at(-1) ?? "";
  return data.length > 1 && last.startsWith("{") && saidIn(last) === "error" ? last : null;
}

const FIELDS = ["data", "event", "id", "retry"];

/** The form of a body by its first characters. Null: too few have come. */
export type Form = "events" | "json" | "other" | null;

/** Judges the form of a body piece by piece, whatever its media type says. */
export function formSniffer(): (piece: Uint8Array) => Form {
  let begun = "";
  return (piece) => {
    // By bytes: a byte order mark and white space before either form say nothing.
    begun = (begun + Buffer.from(piece).toString("latin1")).replace(/^(?:\u00ef\u00bb\u00bf|\s)+/, "");
    if (/^[{[]/.test(begun)) return "json";
    if (/^(?::|(?:data|event|id|retry)[:\r\n])/.test(begun)) return "events";
    return FIELDS.some((field) => field.startsWith(begun)) ? null : "other";
  };
}
