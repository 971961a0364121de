import { redactWords } from "@/server/platform/crypto/redact-secrets";
import { redactText } from "@/server/platform/crypto/redact-tokens";
import type { ProviderIo, VendorWords } from "./define";

/* A vendor's own error text, made safe to show to the people of the account. */

const MOST_CHARACTERS = 500;
/** Maximum characters that are examined. */
const MOST_READ = 4_000;
/** Maximum nesting of errors that is examined. */
const DEEPEST = 3;
const HIDDEN = "[redacted]";

type Io = Pick<ProviderIo, "credentials">;
type Found = { code?: string | undefined; message?: string | undefined };

/** Patterns of possible secrets of any kind; the text keeps the words that name them. */
const SECRETS: [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{16,}/gi, `$1 ${HIDDEN}`],
  [/(\/\/)[^\s/@]+@/g, `$1${HIDDEN}@`],
  [
    /\b(api[ _-]?key|access[ _-]?token|token|secret|password|authorization)((?: provided)?["']?\s*[:=]\s*["']?)[^\s"',;&}]{8,}/gi,
    `$1$2${HIDDEN}`,
  ],
  [/\beyJ[\w-]{8,}\.[\w.-]+/g, HIDDEN],
  [/(?<![\w+=-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{40,}/g, HIDDEN],
];

/**
 * A vendor's error from its JSON, or from the text of a body that is not JSON. Null if it has neither a code nor a
 * message.
 */
export function vendorWords(body: unknown, io: Io): VendorWords | null {
  const found = find(body, 0);
  const code = found.code === undefined ? null : toCode(found.code, io);
  const message = found.message === undefined ? null : toMessage(found.message, io);
  return code === null && message === null ? null : { code, message };
}

/** The innermost error counts: `{"type": "error", "error": {"type": "overloaded_error", "message": "…"}}`. */
function find(body: unknown, depth: number): Found {
  if (typeof body === "string") return { message: body };
  if (Array.isArray(body)) return depth < DEEPEST ? find(body[0], depth + 1) : {};
  if (typeof body !== "object" || body === null) return {};
  const { error, detail, message, msg, code, type, status } = body as Record<string, unknown>;
  const inner = depth < DEEPEST ? find(error ?? detail, depth + 1) : {};
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  // A number of up to three digits is a status.
  const isCode = (value: unknown) => isText(value) || (typeof value === "number" && value > 999);
  return {
    message: inner.message ?? ([message, msg].find(isText) as string | undefined),
    code: inner.code ?? codeIn([code, type, status].filter(isCode)),
  };
}

const codeIn = (found: unknown[]) => (found[0] === undefined ? undefined : String(found[0]));

/** A word such as `insufficient_quota` or a vendor's numeric code; null if it is neither. */
function toCode(text: string, io: Io): string | null {
  const isWord = /^[A-Za-z][\w.:-]{0,63}$|^\d{4,9}$/.test(text);
  return isWord && clean(text, io) === text ? text : null;
}

/** One line of text; null for an HTML page from a proxy. */
function toMessage(text: string, io: Io): string | null {
  if (/^\s*</.test(text)) return null;
  const line = text
    .slice(0, MOST_READ)
    .replace(/[\s\p{C}\uFFFD]+/gu, " ")
    .trim();
  const words = clean(line, io);
  if (words === "") return null;
  return words.length > MOST_CHARACTERS
    ? `${words.slice(0, MOST_CHARACTERS - 1).replace(/\p{Cs}$/u, "")}…`
    : words;
}

const clean = (text: string, { credentials }: Io) =>
  SECRETS.reduce(
    (words, [form, instead]) => words.replace(form, instead),
    redactText(redactWords(text, credentials)),
  );
