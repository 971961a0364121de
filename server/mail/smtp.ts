import { createTransport } from "nodemailer";
import { certificateFault } from "@/server/platform/certificate-fault";
import type { Email, Mailer, MailResult } from "./define";

export type SmtpSettings = {
  /** smtp:// or smtps://, with user and password where the server requires them. */
  url: string;
  /** An address, or a name and an address in angle brackets. */
  from: string;
};

const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;
/** The time limit of one attempt, below the sender's lease. */
const WHOLE_MS = 60_000;
const IDLE_MS = 30_000;
const MOST_CONNECTIONS = 4;

/** Sends over SMTP with a few pooled connections, which are closed when idle. `send` returns failures and does not throw. */
export function smtpMailer({ url, from }: SmtpSettings): Mailer {
  const server = readServer(url);
  const sender = readSender(from);
  const transport = createTransport({
    pool: true,
    maxConnections: MOST_CONNECTIONS,
    maxRequeues: 0, // our rows decide whether to retry
    idleTimeout: IDLE_MS,
    host: server.host,
    port: server.port,
    ...server.tls,
    ...(server.auth ? { auth: server.auth } : {}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(letter) {
      try {
        await transport.sendMail({ ...toMessage(letter, sender), signal: AbortSignal.timeout(WHOLE_MS) });
        return { state: "accepted" };
      } catch (cause) {
        return toOutcome(cause, server);
      }
    },
    close: () => transport.close(),
  };
}

type Sender = { name: string; address: string };

function toMessage({ id, domain, to, subject, text, html, at }: Email, from: Sender) {
  return {
    messageId: `<${id}@${domain}>`,
    date: at,
    // Objects, so that no name or address is parsed as a list of addresses.
    from,
    to: { name: "", address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    baseBoundary: id, // copies are identical bytes
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
  };
}

type Server = {
  host: string;
  port: number;
  auth: { user: string; pass: string } | null;
  tls: { secure: boolean; requireTLS?: boolean; ignoreTLS?: boolean };
};

/**
 * A connection with smtps is encrypted from the start. One with smtp is upgraded if the server offers STARTTLS, and must be
 * before a password is sent to another host; `?starttls=required`, `offered` or `never` overrides this.
 */
export function readServer(url: string): Server {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const auth = username ? { user: plain(username), pass: plain(password) } : null;
  if (protocol === "smtps:") return { host, port: Number(port) || 465, auth, tls: { secure: true } };
  const isHere = host === "localhost" || host === "::1" || host.startsWith("127.");
  const starttls = searchParams.get("starttls") ?? (auth && !isHere ? "required" : "offered");
  const tls = {
    secure: false,
    ...(starttls === "required" ? { requireTLS: true } : {}),
    ...(starttls === "never" ? { ignoreTLS: true } : {}),
  };
  return { host, port: Number(port) || 587, auth, tls };
}

/** Decodes percent-encoding; a text that cannot be decoded is used unchanged. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readSender(from: string): Sender {
  const named = /^(.*?)\s*<([^<>]+)>$/.exec(from);
  const [, name = "", address = from] = named ?? [];
  return { name: name.replace(/^"(.*)"$/, "$1"), address };
}

/** The fields of nodemailer's errors. */
type SmtpFailure = {
  code?: string;
  /** The system or TLS code, where nodemailer replaced it with its own. */
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
  permanent?: boolean;
};

/** SMTP codes that blame our configuration: keep the mail and retry. */
const WANTS_SIGN_IN = new Set([530, 534, 535, 538]);

const NO_ADDRESS = "This is not a valid email address.";

function toOutcome(error: unknown, server: Server): MailResult {
  const failure: SmtpFailure = Object.assign({}, error);
  const { code = "", responseCode = 0, command = "" } = failure;
  const isOfLetter = code === "EENVELOPE" || code === "EMESSAGE";
  if (isOfLetter && command === "API") return { state: "refused", reason: NO_ADDRESS, cause: NO_ADDRESS };
  if (!isOfLetter || WANTS_SIGN_IN.has(responseCode)) {
    const words = wordsFor(failure);
    return { state: "not_sent", reason: words, cause: words };
  }
  const cause = `The mail server refused the email (${responseCode}).`;
  return {
    state: failure.permanent === true ? "refused" : "not_sent",
    reason: saidBy(failure, server),
    cause,
  };
}

const MOST_SHOWN = 300;

/** The server's message about an email, safe to show: on one line, and without our credentials. */
function saidBy({ response = "", responseCode = 0 }: SmtpFailure, { auth }: Server): string {
  const secrets = auth
    ? [auth.pass, Buffer.from(auth.pass).toString("base64"), encodeURIComponent(auth.pass)]
    : [];
  const hidden = secrets
    .filter((secret) => secret !== "")
    .reduce((text, secret) => text.replaceAll(secret, "[redacted]"), response);
  const words = hidden.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, MOST_SHOWN);
  return words ? `The mail server answered: ${words}` : `The mail server answered ${responseCode}.`;
}

/** Our own words, because a server's message while connecting and signing in may repeat our credentials. */
function wordsFor({ code = "", originalCode = "", responseCode = 0 }: SmtpFailure): string {
  const untrusted = certificateFault("the mail server", originalCode);
  if (untrusted) return untrusted;
  const suffix = responseCode ? ` (${responseCode})` : "";
  switch (code) {
    case "EAUTH":
    case "ENOAUTH":
    case "EENVELOPE":
      return `The mail server rejected the user and password in SMTP_URL.${suffix}`;
    case "ETIMEDOUT":
    case "EABORT":
      return "The mail server timed out.";
    case "EDNS":
      return "The host in SMTP_URL could not be resolved.";
    case "ETLS":
      return `Could not make an encrypted connection to the mail server.${suffix}`;
    default:
      return `The mail server could not be reached, or broke off.${suffix}`;
  }
}
