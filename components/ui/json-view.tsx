import type { ReactNode } from "react";
import { CodeBlock } from "./code-block";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const COLORED_LIMIT = 200_000;

/** A JSON value, indented and coloured by kind. Above 200,000 characters it is plain text, to keep the page fast. */
export function JsonView({ value, what, className }: { value: unknown; what: string; className?: string }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <CodeBlock code={text} what={what} className={className}>
      {text.length > COLORED_LIMIT ? text : colored(text)}
    </CodeBlock>
  );
}

function colored(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, match.index));
    const [whole, string, colon] = match;
    const color = string ? (colon ? "text-link" : "text-good") : "text-warn";
    parts.push(
      <span key={match.index} className={color}>
        {string ?? whole}
      </span>,
    );
    if (colon) parts.push(colon);
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts;
}
