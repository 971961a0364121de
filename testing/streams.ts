import { request as ask, type IncomingMessage } from "node:http";

/** One frame of an event stream, as a client reads it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads data of every shape
export type Frame = { id: string; event: string; data: any };

/** The frames of a body. Throws for an invalid frame: a missing id, data that is not JSON, a `\r`. */
export function framesOf(text: string): Frame[] {
  if (text.includes("\r")) throw new Error("a stream ends its lines with \\n only");
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  return whole
    .split("\n\n")
    .map((block) => block.split("\n").filter((line) => line !== "" && !line.startsWith(":")))
    .filter((lines) => lines.length > 0 && !lines[0]!.startsWith("retry: "))
    .map((lines) => {
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [id, event, data] = [field("id"), field("event"), field("data")];
      if (!id || !event || !data || lines.length !== 3) throw new Error(`not a frame: ${lines.join("\\n")}`);
      return { id, event, data: JSON.parse(data) };
    });
}

export type OpenStream = {
  response: IncomingMessage;
  /** All frames so far. */
  frames(): Frame[];
  /** Resolves when there are that many frames; with all of them if the stream ends before. */
  until(count: number): Promise<Frame[]>;
  /** Resolves when either side has ended the stream. */
  ended: Promise<Frame[]>;
  /** The pause before a browser reconnects, as the stream last set it; null if it did not. */
  retryMs(): number | null;
  /** The id with which a browser reconnects. */
  lastId(): string | undefined;
  cut(): void;
};

/** Opens an event stream over HTTP and reads it. */
export function openStream(
  url: string,
  key: string,
  options: { lastEventId?: string | undefined; body?: unknown; headers?: Record<string, string> } = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const sent = options.body === undefined ? undefined : JSON.stringify(options.body);
    const request = ask(url, {
      method: sent === undefined ? "GET" : "POST",
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        accept: "text/event-stream",
        ...(options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      let heard: () => void = () => {};
      let hasEnded = false;
      const over = (done: (frames: Frame[]) => void) => {
        hasEnded = true;
        heard();
        done(framesOf(text));
      };
      const ended = new Promise<Frame[]>((done) => {
        response.on("end", () => over(done));
        response.on("error", () => over(done));
        response.on("close", () => over(done));
      });
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
        heard();
      });
      resolve({
        response,
        frames: () => framesOf(text),
        async until(count) {
          while (!hasEnded && framesOf(text).length < count)
            await new Promise<void>((again) => {
              heard = again;
            });
          return framesOf(text);
        },
        ended,
        lastId: () => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1],
        retryMs: () => {
          const said = [...text.matchAll(/^retry: (\d+)$/gm)].at(-1);
          return said ? Number(said[1]) : null;
        },
        cut: () => request.destroy(),
      });
    });
    request.end(sent);
  });
}
