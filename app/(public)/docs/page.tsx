import type { Metadata } from "next";
import { Mark } from "@/components/brand/logo";
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
  return (
    <div className="mx-auto grid max-w-6xl gap-8 px-4 py-8 lg:grid-cols-[15rem_minmax(0,1fr)]">
      <nav
        aria-label="Operations"
        className="text-sm lg:sticky lg:top-8 lg:max-h-[calc(100dvh-4rem)] lg:self-start lg:overflow-y-auto"
      >
        <a href="/" className="mb-4 flex items-center gap-2 font-semibold">
          <Mark className="size-6 text-primary" /> Capstan
        </a>
        {groups.map((group) => (
          <div key={group.name} className="mb-3">
            <p className="font-semibold">{group.name}</p>
            <ul>
              {group.operations.map(({ operation }) => (
                <li key={operation.operationId}>
                  <a className="block py-1 text-muted hover:text-text" href={`#${operation.operationId}`}>
                    {operation.summary}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <a className="font-semibold" href="#schemas">
          Schemas
        </a>
      </nav>
      <main id="main" className="min-w-0">
        <h1 className="text-2xl font-semibold">API reference</h1>
        <p className="mt-1 text-base text-muted">
          Version {document.info.version}. {document.info.description} Also available as{" "}
          <a className="text-link underline" href="/openapi.json">
            OpenAPI 3.1
          </a>
          .
        </p>
        <p className="mt-2 text-base text-muted">
          Send an API key as <code>Authorization: Bearer cap_…</code>. Errors have the form{" "}
          <code>{'{"code", "message", "requestId", "docsUrl", "detail"}'}</code>; branch on the code. Guides
          are at{" "}
          <a className="text-link underline" href="/docs/index">
            /docs/index
          </a>
          .
        </p>
        {groups.map((group) => (
          <section key={group.name} className="mt-8">
            <h2 className="mb-3 text-lg font-semibold">{group.name}</h2>
            <div className="grid gap-4">
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
            </div>
          </section>
        ))}
        <section className="mt-8">
          <h2 id="schemas" className="mb-3 text-lg font-semibold">
            Schemas
          </h2>
          <div className="grid gap-4">
            {Object.entries(document.components.schemas).map(([name, schema]) => (
              <Card key={name} aria-labelledby={`schema-${name}`}>
                <CardBody>
                  <h3 id={`schema-${name}`} className="scroll-mt-6 text-base font-semibold">
                    {name}
                  </h3>
                  {typeof schema.description === "string" && (
                    <p className="mt-1 text-sm text-muted">{schema.description}</p>
                  )}
                  <SchemaView schema={schema} />
                </CardBody>
              </Card>
            ))}
          </div>
        </section>
      </main>
    </div>
  );
}
