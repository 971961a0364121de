import type { ReactNode } from "react";
import { cn } from "./class-names";
import { CopyButton } from "./copy-button";

/** Text to read or copy unchanged. Scrolls inside its own frame, by keyboard too. */
export function CodeBlock({
  code,
  what,
  wrap = false,
  className,
  children = code,
}: {
  code: string;
  /** Names the text: labels the region and completes "Copy …". */
  what: string;
  wrap?: boolean;
  className?: string | undefined;
  /** The same text with syntax colours. */
  children?: ReactNode;
}) {
  return (
    <div className="relative min-w-0">
      <section
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className={cn(
          "max-h-112 overflow-auto rounded-md border border-line bg-sunken p-3 pr-11 text-xs leading-4.5",
          className,
        )}
      >
        <pre
          dir={wrap ? "auto" : "ltr"}
          className={wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre"}
        >
          <code>{children}</code>
        </pre>
      </section>
      <CopyButton
        text={code}
        what={what}
        variant="secondary"
        className="absolute top-2 right-2.5 text-muted"
      />
    </div>
  );
}
