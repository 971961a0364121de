import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";

type Props = {
  icon: LucideIcon;
  title: string;
  action: ReactNode;
  baseUrl: string;
  /** The endpoint that the command posts to. */
  path: string;
  body: string;
  children: ReactNode;
};

/** Shown in a project without items of a kind: the command that creates the first one. */
export const FirstCommand = ({ baseUrl, path, body, children, ...rest }: Props) => (
  <EmptyState {...rest}>
    <p>{children}</p>
    <Snippet what="command" code={postCommand(baseUrl, path, body)} />
  </EmptyState>
);

/** A link to create the key that a `FirstCommand` needs. */
export const CreateKeyLink = ({ projectId }: { projectId: string }) => (
  <Button asChild variant="primary">
    <Link href={`/projects/${projectId}/keys`}>Create API key</Link>
  </Button>
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
