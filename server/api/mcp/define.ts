import { z } from "zod";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { listedInput, strictInput } from "./schemas";

/** Shown in addition to a tool's structured output: an image, or a link to fetch. */
export type Shown =
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType: string };

export type Io = {
  /** Aborted when the call is cancelled or its caller disconnects. */
  signal: AbortSignal;
  /** Reports progress to a caller that requested it. */
  progress(done: number, total: number | null, message: string): Promise<void>;
  show(content: Shown): void;
};

type Effect = "reads" | "writes" | "destroys";

type Definition<I extends z.ZodObject, O extends z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  /** The scope that a key needs; absent means none. */
  scope?: Scope;
  effect: Effect;
  /** Calling the tool twice has the same effect as calling it once. */
  idempotent?: true;
  /**
   * Names the argument that accepts any fields, because of which the schema cannot be strict, and says where these
   * fields are documented.
   */
  open?: string;
  input: I;
  output: O;
  run(ctx: Ctx, input: z.output<I>, io: Io): Promise<z.output<O>>;
};

/** One tool: it calls the domain functions that endpoints call, and is described for an agent. */
export type Tool = Omit<Definition<z.ZodObject, z.ZodObject>, "run"> & {
  run(ctx: Ctx, input: unknown, io: Io): Promise<Record<string, unknown>>;
  /** The tool as `tools/list` returns it. */
  listed: Record<string, unknown>;
  /**
   * The same for clients that request schemas of OpenAI's strict mode. A tool with an open argument has no strict schema and
   * is listed as above.
   */
  strictlyListed: Record<string, unknown>;
};

/** Defines a tool. `run` receives what `input` parsed and returns `output`. */
export function tool<I extends z.ZodObject, O extends z.ZodObject>(definition: Definition<I, O>): Tool {
  const { name, title, description, effect, idempotent, open, input, output } = definition;
  const { schema, isStrict } = listedInput(input);
  if (isStrict !== (open === undefined))
    throw new Error(`${name}: an open argument must be named by \`open\``);
  const listed = {
    name,
    title,
    description,
    inputSchema: schema,
    outputSchema: shallow(published(output)),
    annotations: {
      title,
      readOnlyHint: effect === "reads",
      destructiveHint: effect === "destroys",
      idempotentHint: effect === "reads" || idempotent === true,
      openWorldHint: false,
    },
    ...(open === undefined ? {} : { _meta: { "capstan/open": open } }),
  };
  const strictlyListed = isStrict ? { ...listed, inputSchema: strictInput(schema) } : listed;
  return { ...definition, listed, strictlyListed };
}

/** The schema of a result, open as in OpenAPI. */
function published(schema: z.ZodObject) {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  // A named schema is among the definitions; clients expect the object itself at the top level.
  const name = made.$ref?.replace("#/$defs/", "");
  const { $ref: _named, ...rest } = made;
  const { id: _id, ...whole } = { ...(name ? made.$defs?.[name] : {}), ...rest };
  return whole;
}

/** Fields with a larger schema are published by name only. */
const MOST_FIELD_CHARACTERS = 300;

/**
 * A result's schema without the details of its large fields, which OpenAPI has: clients load all tools at once, and many
 * pass them to a model.
 */
function shallow(schema: ReturnType<typeof published>) {
  const { $defs: _, properties = {}, ...rest } = schema;
  const isSmall = (field: string) => field.length <= MOST_FIELD_CHARACTERS && !field.includes("#/$defs/");
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    isSmall(JSON.stringify(field)) ? field : {},
  ]);
  return { ...rest, properties: Object.fromEntries(fields) };
}
