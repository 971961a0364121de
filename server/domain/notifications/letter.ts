import { publicUrl } from "@/server/platform/settings/env";

/** An email's content besides its title. The notification's own text comes first. */
export type LetterBody = {
  /** The key facts, as label and value. */
  facts: readonly (readonly [label: string, value: string])[];
  /** A person's own words, shown as a quotation. */
  said?: { by: string; words: string };
  /** The label of the email's only link. */
  action: string;
};

type Said = {
  title: string;
  body: string;
  href: string;
  letter: LetterBody;
  /** Why this person receives the email. */
  reason: string;
};
type Mailing = { subject: string; text: string; html: string };

const LONGEST_SUBJECT = 160;

/** A notification's email, as plain text and as a small HTML page without images, external resources or tracking. */
export function toMailing(said: Said): Mailing {
  return { subject: shortened(oneLine(said.title), LONGEST_SUBJECT), text: toText(said), html: toHtml(said) };
}

/** On one line, without control characters or direction overrides: safe in a header. */
export function oneLine(words: string): string {
  return words
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A person's own lines, without other control characters. */
function lines(words: string): string {
  return words
    .replace(/\r\n?|\u2028|\u2029/g, "\n")
    .split("\n")
    .map(oneLine)
    .join("\n")
    .trim();
}

/** Shortens to at most this many characters, never inside one. */
export function shortened(words: string, most: number): string {
  const characters = [...words];
  return characters.length <= most
    ? words
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}

function toText({ title, body, href, letter, reason }: Said): string {
  const { facts, said, action } = letter;
  const parts = [
    oneLine(title),
    lines(body),
    facts.map(([label, value]) => `${label}: ${oneLine(value)}`).join("\n"),
    said ? `${said.by}:\n${lines(said.words).replace(/^/gm, "> ")}` : "",
    `${action}:\n${publicUrl}${href}`,
    `-- \n${oneLine(reason)}`, // email clients treat text after "-- " as the signature
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (words: string) => words.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
const escapedLines = (words: string) => escaped(lines(words)).replaceAll("\n", "<br>");

/* Colours are set twice: inline for clients that drop style sheets, and here for dark mode. */
const STYLE = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #111114 !important; }
  .card { background: #1b1b20 !important; border-color: #34343c !important; }
  .strong { color: #f2f2f5 !important; }
  .plain { color: #c9c9d1 !important; }
  .quiet { color: #9b9ba6 !important; }
  .said { border-color: #4a4a55 !important; }
  .button { background: #8ea2ff !important; color: #101018 !important; }
}`;
const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";

function toHtml({ title, body, href, letter, reason }: Said): string {
  const { facts, said, action } = letter;
  const rows = facts
    .map(
      ([label, value]) =>
        `<tr><td class="quiet" style="padding:4px 16px 4px 0;color:#5f5f6b;vertical-align:top">${escaped(label)}</td><td class="strong" style="padding:4px 0;color:#17171c;vertical-align:top">${escaped(oneLine(value))}</td></tr>`,
    )
    .join("");
  const table = rows
    ? `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:16px 0 0;border-collapse:collapse;font-size:15px;line-height:1.5">${rows}</table>`
    : "";
  const quoted = said
    ? `<p class="quiet" style="margin:16px 0 4px;color:#5f5f6b;font-size:14px">${escaped(said.by)}:</p><blockquote class="said plain" style="margin:0;padding:2px 0 2px 12px;border-left:3px solid #d4d4dc;color:#3a3a44;font-size:15px;line-height:1.5">${escapedLines(said.words)}</blockquote>`
    : "";
  const link = escaped(publicUrl + href);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(oneLine(title))}</title>
<style>${STYLE}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f4f6">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f4f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border:1px solid #dedee4;border-radius:10px"><tr><td style="padding:24px;text-align:left;overflow-wrap:anywhere;${FONT}">
<h1 class="strong" style="margin:0 0 8px;font-size:19px;line-height:1.3;font-weight:600;color:#17171c">${escaped(oneLine(title))}</h1>
<p class="plain" style="margin:0;font-size:15px;line-height:1.5;color:#3a3a44">${escapedLines(body)}</p>
${table}${quoted}
<p style="margin:24px 0 0"><a class="button" href="${link}" style="display:inline-block;padding:11px 18px;border-radius:7px;background:#3b50d9;color:#ffffff;font-size:15px;font-weight:600;text-decoration:none">${escaped(action)}</a></p>
<p class="quiet" style="margin:16px 0 0;font-size:13px;line-height:1.5;color:#5f5f6b">Or open this address: <a class="quiet" href="${link}" style="color:#5f5f6b">${link}</a></p>
</td></tr></table>
<p class="quiet" style="max-width:560px;margin:16px auto 0;font-size:13px;line-height:1.5;color:#5f5f6b;${FONT}">${escaped(oneLine(reason))}</p>
</td></tr></table>
</body>
</html>
`;
}
