"use client";
import { useSyncExternalStore } from "react";
import { TabCard } from "@/components/blocks/detail/tab-card";
import { CodeBlock } from "@/components/ui/code-block";
import { type Language, snippetsOf } from "@/server/contract/snippets";

const LANGUAGES: [Language, string][] = [
  ["curl", "curl"],
  ["typescript", "TypeScript"],
  ["python", "Python"],
];
const nothingChanges = () => () => {};

/** The form's exact request as code, with the key in an environment variable. */
export function Snippets({
  path,
  body,
  stream = false,
  title = "Code",
}: {
  path: string;
  body: unknown;
  stream?: boolean;
  title?: string;
}) {
  // The server does not know its public hostname; the browser does.
  const origin = useSyncExternalStore(
    nothingChanges,
    () => window.location.origin,
    () => "",
  );
  const snippets = snippetsOf({ origin, path, body, stream });
  return (
    <TabCard
      id="code-title"
      title={title}
      label="Language"
      views={LANGUAGES.map(([language, name]) => ({
        name,
        content: <CodeBlock code={snippets[language]} what={`${name} code`} />,
      }))}
    />
  );
}
