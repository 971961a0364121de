import type { ReactNode } from "react";
import { cn } from "./class-names";
import { CopyButton } from "./copy-button";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const COLORED_LIMIT = 200_000;

/** A JSON value, indented and coloured by kind. Above 200,000 characters it is plain text, to keep the page fast. */
export function JsonView({ value, what, className }: { value: unknown; what: string; className?: string }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <div className="relative min-w-0">
      <section
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className={cn(
          "max-h-112 overflow-auto rounded-md border border-line bg-sunken p-3 pr-11 text-xs leading-5",
          className,
        )}
      >
        <pre className="whitespace-pre">
          <code>{text.length > COLORED_LIMIT ? text : colored(text)}</code>
        </pre>
      </section>
      <CopyButton
        text={text}
        what={what}
        variant="secondary"
        className="absolute top-2 right-2.5 text-muted"
      />
    </div>
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
