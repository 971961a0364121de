import { Badge } from "@/components/ui/badge";
import { Ticked } from "./docs-page";

export type DocumentedSchema = Record<string, unknown>;

const NESTING_SHOWN = 6;

/** Renders a JSON Schema: each field with its type, whether it is required, and its constraints. */
export function SchemaView({ schema, depth = 0 }: { schema: DocumentedSchema; depth?: number }) {
  const fields = fieldsOf(schema);
  if (fields.length === 0 || depth > NESTING_SHOWN) {
    return (
      <p className="text-sm">
        <TypeName schema={schema} />
      </p>
    );
  }
  return (
    <ul className="divide-y divide-line">
      {fields.map(({ name, schema: field, isRequired }) => (
        <li key={name} className="py-2">
          <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
            <code className="text-sm font-medium">{name}</code>
            <TypeName schema={field} />
            {isRequired && <Badge>required</Badge>}
          </div>
          <Facts schema={field} />
          {inner(field) && (
            <details className="mt-1 ml-1 border-l border-line pl-3">
              <summary className="cursor-pointer text-xs text-link">Fields of {name}</summary>
              <SchemaView schema={inner(field) ?? {}} depth={depth + 1} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

function Facts({ schema }: { schema: DocumentedSchema }) {
  const facts = [
    typeof schema.description === "string" ? schema.description : null,
    schema.default === undefined ? null : `Default ${JSON.stringify(schema.default)}.`,
    bound(schema, "minimum", "Minimum"),
    bound(schema, "maximum", "Maximum"),
    bound(schema, "minLength", "Minimum length"),
    bound(schema, "maxLength", "Maximum length"),
    bound(schema, "maxItems", "Maximum items"),
  ].filter((fact) => fact !== null);
  if (facts.length === 0) return null;
  return (
    <p className="mt-0.5 text-sm text-muted">
      <Ticked>{facts.join(" ")}</Ticked>
    </p>
  );
}

function bound(schema: DocumentedSchema, key: string, words: string): string | null {
  const value = schema[key];
  // The bounds of a safe integer are noise.
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? `${words} ${value}.` : null;
}

/** The name of a type; a named schema links to its section. */
export function TypeName({ schema }: { schema: DocumentedSchema }) {
  const name = refName(schema) ?? refName(asSchema(schema.items));
  const words = typeWords(schema);
  if (!name) return <span className="text-xs text-muted">{words}</span>;
  return (
    <a className="text-xs text-link underline-offset-2 hover:underline" href={`#schema-${name}`}>
      {words}
    </a>
  );
}

function typeWords(schema: DocumentedSchema): string {
  const name = refName(schema);
  if (name) return name;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) return union.map((each) => typeWords(asSchema(each))).join(" | ");
  if (schema.type === "array") return `array of ${typeWords(asSchema(schema.items))}`;
  const format = typeof schema.format === "string" ? ` (${schema.format})` : "";
  const types = [schema.type].flat().filter((type) => typeof type === "string");
  return types.length > 0 ? `${types.join(" | ")}${format}` : "any JSON";
}

function fieldsOf(
  schema: DocumentedSchema,
): { name: string; schema: DocumentedSchema; isRequired: boolean }[] {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asSchema(schema.properties)).map(([name, field]) => ({
    name,
    schema: asSchema(field),
    isRequired: required.includes(name),
  }));
}

/** The nested schema of a field that has no section of its own. */
function inner(schema: DocumentedSchema): DocumentedSchema | null {
  const union = schema.anyOf ?? schema.oneOf;
  const parts = [schema, asSchema(schema.items), ...(Array.isArray(union) ? union.map(asSchema) : [])];
  return parts.find((part) => fieldsOf(part).length > 0) ?? null;
}

function refName(schema: DocumentedSchema): string | null {
  return typeof schema.$ref === "string" ? (schema.$ref.split("/").at(-1) ?? null) : null;
}

function asSchema(value: unknown): DocumentedSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
