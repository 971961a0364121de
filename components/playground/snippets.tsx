"use client";
import { useSyncExternalStore } from "react";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { type Language, snippetsOf } from "@/server/contract/snippets";

const LANGUAGES: Record<Language, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };
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
    <Tabs defaultValue="curl">
      <Card aria-labelledby="code-title">
        <CardHeader
          title={title}
          id="code-title"
          actions={
            <TabsList aria-label="Language">
              {Object.entries(LANGUAGES).map(([language, name]) => (
                <TabsTrigger key={language} value={language}>
                  {name}
                </TabsTrigger>
              ))}
            </TabsList>
          }
        />
        <CardBody>
          {Object.entries(LANGUAGES).map(([language, name]) => (
            <TabsContent key={language} value={language}>
              <CodeBlock code={snippets[language as Language]} what={`${name} code`} />
            </TabsContent>
          ))}
        </CardBody>
      </Card>
    </Tabs>
  );
}
