import type { ReactNode } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import { Card, CardBody } from "@/components/ui/card";
import { Ticked } from "./docs-page";
import { type DocumentedSchema, SchemaView, TypeName } from "./schema-view";

type Content = Record<string, { schema: DocumentedSchema }>;

/** The parts of an OpenAPI operation that the page shows. */
export type OperationFacts = {
  operationId: string;
  summary: string;
  description: string;
  parameters: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: DocumentedSchema;
  }[];
  requestBody?: { content: Content; required: boolean };
  responses: Record<string, { description: string; content?: Content }>;
};

const TONES: Record<string, Tone> = { get: "good", post: "busy", put: "warn", patch: "warn", delete: "bad" };

/** One operation: its parameters, body and responses. */
export function OperationCard({
  method,
  path,
  operation,
}: {
  method: string;
  path: string;
  operation: OperationFacts;
}) {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  return (
    <Card aria-labelledby={operationId}>
      <CardBody>
        <h3 id={operationId} className="scroll-mt-6 text-base font-semibold">
          <a href={`#${operationId}`}>{summary}</a>
        </h3>
        <p className="mt-1 flex flex-wrap items-center gap-2">
          <Badge tone={TONES[method] ?? "neutral"}>{method.toUpperCase()}</Badge>
          <code className="text-sm break-all">{path}</code>
        </p>
        <p className="mt-2 max-w-[80ch] text-sm text-muted">
          <Ticked>{description}</Ticked>
        </p>
        {parameters.length > 0 && (
          <Part title="Parameters">
            <ul className="divide-y divide-line">
              {parameters.map((parameter) => (
                <li
                  key={`${parameter.in} ${parameter.name}`}
                  className="flex flex-wrap items-baseline gap-x-2 py-1.5"
                >
                  <code className="text-sm font-medium">{parameter.name}</code>
                  <span className="text-xs text-muted">in {parameter.in}</span>
                  <TypeName schema={parameter.schema} />
                  {parameter.required && <Badge>required</Badge>}
                  {parameter.description && (
                    <span className="text-sm text-muted">
                      <Ticked>{parameter.description}</Ticked>
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </Part>
        )}
        {requestBody && (
          <Part title="Body">
            {Object.entries(requestBody.content).map(([mediaType, { schema }]) => (
              <div key={mediaType}>
                <p className="text-xs text-muted">{mediaType}</p>
                <SchemaView schema={schema} />
              </div>
            ))}
          </Part>
        )}
        <Part title="Responses">
          <ul className="divide-y divide-line">
            {Object.entries(responses).map(([status, response]) => (
              <li key={status} className="flex flex-wrap items-baseline gap-x-2 py-1.5">
                <code className="text-sm font-medium">{status}</code>
                <span className="text-sm">
                  <Ticked>{response.description}</Ticked>
                </span>
                {Object.entries(response.content ?? {}).map(([mediaType, { schema }]) =>
                  mediaType === "application/json" ? (
                    <TypeName key={mediaType} schema={schema} />
                  ) : (
                    <span key={mediaType} className="text-xs text-muted">
                      {mediaType}
                    </span>
                  ),
                )}
              </li>
            ))}
          </ul>
        </Part>
      </CardBody>
    </Card>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-4">
      <h4 className="text-xs font-semibold text-muted">{title}</h4>
      <div className="mt-1">{children}</div>
    </section>
  );
}
