import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";

type Props = { icon: LucideIcon; title: string; action: ReactNode; command: string; children: ReactNode };

/** Shown in a project that has none of something: the command that makes the first one. */
export const FirstCommand = ({ command, children, ...rest }: Props) => (
  <EmptyState {...rest}>
    <p>{children}</p>
    <Snippet what="command" code={command} />
  </EmptyState>
);

/** A code block centred in an empty state. */
export const Snippet = (props: { what: string; code: string }) => (
  <div className="mx-auto mt-4 w-fit max-w-[calc(100vw-6rem)] text-left text-text">
    <CodeBlock {...props} />
  </div>
);

/** A curl command that posts to `path`. */
export const postCommand = (baseUrl: string, path: string, body: string) =>
  `curl -sS ${baseUrl}${path} \\
  -H "Authorization: Bearer $CAPSTAN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
