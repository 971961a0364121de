import type { Metadata } from "next";
import type { ReactNode } from "react";
import { DocsFrame, Links, Ticked } from "@/components/docs/docs-page";
import { OperationCard } from "@/components/docs/operation-card";
import { SchemaView } from "@/components/docs/schema-view";
import { Card, CardBody } from "@/components/ui/card";
import { openapi, parametersIn, responseOf } from "@/server/api/openapi/openapi";
import { endpoints } from "@/server/operations";

export const metadata: Metadata = { title: "API reference" };
/** Rendered once, at build time: it changes only with the code. */
export const dynamic = "force-static";

/** The API reference, rendered from the values that serve the API. Works without scripts. */
export default function DocsPage() {
  const document = openapi(endpoints);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags?.includes(name)),
  }));
  const schemas = Object.entries(document.components.schemas);
  return (
    <DocsFrame
      nav={
        <nav aria-label="Operations">
          {groups.map((group) => (
            <details key={group.name} open className="mb-3">
              <summary className="cursor-pointer font-semibold">{group.name}</summary>
              <Links
                of={group.operations.map(({ operation }) => ({
                  address: `#${operation.operationId}`,
                  title: operation.summary,
                }))}
              />
            </details>
          ))}
          <a className="font-semibold" href="#schemas">
            Schemas
          </a>
        </nav>
      }
    >
      <h1 className="text-2xl font-semibold">API reference</h1>
      <p className="mt-1 max-w-[72ch] text-base text-muted">
        Version {document.info.version}. <Ticked>{document.info.description}</Ticked> Also available as{" "}
        <a className="text-link underline" href="/openapi.json">
          OpenAPI 3.1
        </a>
        .
      </p>
      <p className="mt-2 max-w-[72ch] text-base text-muted">
        Send an API key as <code>Authorization: Bearer cap_…</code>. Errors have the form{" "}
        <code>{'{"code", "message", "requestId", "docsUrl", "detail"}'}</code>; branch on the code. Guides are
        at{" "}
        <a className="text-link underline" href="/docs/index">
          /docs/index
        </a>
        .
      </p>
      {groups.map((group) => (
        <Part key={group.name} title={group.name} hint={`${group.operations.length} operations`}>
          {group.operations.map(({ path, method, operation }) => (
            <OperationCard
              key={operation.operationId}
              path={path}
              method={method}
              operation={{
                ...operation,
                parameters: parametersIn(document, operation),
                responses: Object.fromEntries(
                  Object.keys(operation.responses).map((status) => [
                    status,
                    responseOf(document, operation, status) ?? { description: "" },
                  ]),
                ),
              }}
            />
          ))}
        </Part>
      ))}
      <Part id="schemas" title="Schemas" hint={`${schemas.length} schemas`}>
        {schemas.map(([name, schema]) => (
          <Card key={name} aria-labelledby={`schema-${name}`}>
            <CardBody>
              <h3 id={`schema-${name}`} className="scroll-mt-6 text-base font-semibold">
                {name}
              </h3>
              {typeof schema.description === "string" && (
                <p className="mt-1 text-sm text-muted">
                  <Ticked>{schema.description}</Ticked>
                </p>
              )}
              <SchemaView schema={schema} />
            </CardBody>
          </Card>
        ))}
      </Part>
    </DocsFrame>
  );
}

/** A collapsed part of the reference. A link to an element inside opens the part, also without scripts. */
function Part({
  id,
  title,
  hint,
  children,
}: {
  id?: string;
  title: string;
  hint: string;
  children: ReactNode;
}) {
  return (
    <details className="mt-3 rounded-lg border border-line bg-surface">
      <summary className="cursor-pointer px-4 py-3">
        <h2 className="inline text-lg font-semibold">{title}</h2>{" "}
        <span className="text-sm text-muted">{hint}</span>
      </summary>
      <div id={id} className="grid gap-4 border-t border-line-soft bg-canvas p-4">
        {children}
      </div>
    </details>
  );
}
