import { isObject } from "@/server/platform/text/json";
import { parseForeignJson } from "@/server/platform/text/json-text";

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

/**
 * Reads an event stream chunk by chunk, however it is cut, and passes each whole event on. Returns the reader's last verdict;
 * after `enough` nothing is read. Comments, events without data and events that break off are not passed on.
 */
export function eventReader(onEvent: (event: ServerEvent) => EventWish): (chunk: Uint8Array) => EventWish {
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  let wish: EventWish = "more";

  function take(line: string): void {
    if (line === "") {
      const event = { event: name, data: data.join("\n") };
      name = "";
      data = [];
      // Servers keep a connection open with events that have no data.
      if (event.data.trim() !== "") wish = onEvent(event);
      return;
    }
    const cut = line.indexOf(":");
    const field = cut === -1 ? line : line.slice(0, cut);
    const value = cut === -1 ? "" : line.slice(line[cut + 1] === " " ? cut + 2 : cut + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
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
    return wish;
  };
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
