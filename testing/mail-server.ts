import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export type ReceivedMail = {
  to: string[];
  /** Unfolded and decoded headers, by lower-case name. */
  headers: Record<string, string>;
  text: string;
  html: string;
  raw: string;
  /** The id of the mail's connection; `secure` is true if that was encrypted. */
  session: string;
  secure: boolean;
  user: string | null;
};

/** The server's reaction to a mail: it accepts, refuses with an SMTP code, or keeps the mail and answers 421 (`hang up`). */
export type MailReaction = "take" | "hang up" | { code: number; at: "recipient" | "data"; says?: string };

/** A mail server on this machine, over real SMTP: reacts as configured and keeps received mails. */
export async function startMailServer(options: SMTPServerOptions & { port?: number } = {}) {
  const received: ReceivedMail[] = [];
  const users: string[] = [];
  let react = (_recipient: string, _number: number): MailReaction | Promise<MailReaction> => "take";
  let asked = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onAuth: ({ username = "", password }, _session, done) => {
      users.push(username);
      if (password === "right") done(null, { user: username });
      else done(Object.assign(new Error(`Wrong password ${password}`), { responseCode: 535 }));
    },
    onRcptTo: ({ address }, _session, done) => {
      const reaction = react(address, ++asked);
      if (reaction instanceof Promise) return done(); // the reaction applies to the mail's data
      done(typeof reaction === "object" && reaction.at === "recipient" ? refusal(reaction) : undefined);
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const reaction = await react(to[0] ?? "", asked);
        if (typeof reaction === "object") return done(refusal(reaction));
        received.push({
          to,
          ...parse(Buffer.concat(chunks).toString("utf8")),
          session: session.id,
          secure: session.secure,
          user: session.user ?? null,
        });
        // The mail has arrived, but its sender does not learn so.
        if (reaction === "hang up") return done(Object.assign(new Error("bye"), { responseCode: 421 }));
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {}); // some tests break off connections
  await new Promise<void>((resolve) => void server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const address = server.server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** The users that tried to sign in. */
    users,
    reactWith(next: typeof react) {
      react = next;
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

const refusal = ({ code, says = "no" }: Exclude<MailReaction, string>) =>
  Object.assign(new Error(says), { responseCode: code });

/** A message of two parts, parsed as mail readers do. */
function parse(raw: string): Pick<ReceivedMail, "headers" | "text" | "html" | "raw"> {
  const { headers, body } = split(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, "")));
  const of = (type: string) => {
    const part = parts.find((each) => each.headers["content-type"]?.startsWith(type));
    return part ? decoded(part.headers["content-transfer-encoding"] ?? "7bit", part.body) : "";
  };
  return { headers, text: of("text/plain"), html: of("text/html"), raw };
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf("\r\n\r\n");
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodedWords(line.slice(colon + 1).trim())];
    }),
  );
  return { headers, body: raw.slice(end + 4) };
}

function decoded(encoding: string, body: string): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  const whole = body.replace(/\r\n$/, "");
  if (encoding !== "quoted-printable") return whole.replaceAll("\r\n", "\n");
  return fromQuoted(whole.replace(/=\r\n/g, "")).replaceAll("\r\n", "\n");
}

const fromQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");

/** Decodes encoded words of a header (RFC 2047). */
const decodedWords = (text: string) =>
  text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_all, how: string, word: string) =>
      how.toUpperCase() === "B"
        ? Buffer.from(word, "base64").toString("utf8")
        : fromQuoted(word.replaceAll("_", " ")),
    );
