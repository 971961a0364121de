/** One event of a vendor's stream; `event` is empty where it has no name. */
export type ServerEvent = { event: string; data: string };

const LINE_END = /\r\n|\n|\r/;

/**
 * Reads an event stream chunk by chunk, however it is cut, and tells each whole event. Answers true when the reader has
 * said that was the last one; what comes after is not read. An event that breaks off is not passed on.
 */
export function eventReader(onEvent: (event: ServerEvent) => boolean): (chunk: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  let hasEnded = false;

  function take(line: string): void {
    if (line === "") {
      const event = { event: name, data: data.join("\n") };
      const isEvent = data.length > 0;
      name = "";
      data = [];
      if (isEvent) hasEnded = onEvent(event);
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
      if (hasEnded) break;
      take(line);
    }
    return hasEnded;
  };
}
