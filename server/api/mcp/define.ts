import { z } from "zod";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { listedInput } from "./schemas";

/** What a tool may answer beside its structured output: a picture to look at, a link to fetch. */
export type Shown =
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType: string };

export type Io = {
  /** Aborted when the call is cancelled or its caller went away. */
  signal: AbortSignal;
  /** Tells a caller who asked for it how far the work is. */
  progress(done: number, total: number | null, message: string): Promise<void>;
  show(content: Shown): void;
};

type Effect = "reads" | "writes" | "destroys";

type Definition<I extends z.ZodObject, O extends z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  /** What a key must be allowed to do; absent: every key may. */
  scope?: Scope;
  effect: Effect;
  /** Asking twice is as asking once. */
  idempotent?: true;
  /** Which argument takes any fields, so that the schema cannot be strict, and where its fields are described. */
  open?: string;
  input: I;
  output: O;
  run(ctx: Ctx, input: z.output<I>, io: Io): Promise<z.output<O>>;
};

/** One tool: the same verb as an endpoint, with words for an agent. */
export type Tool = Omit<Definition<z.ZodObject, z.ZodObject>, "run"> & {
  run(ctx: Ctx, input: unknown, io: Io): Promise<Record<string, unknown>>;
  /** As a client lists it. */
  listed: Record<string, unknown>;
};

/** Defines a tool. What `run` receives was parsed by `input`; what it answers is `output`. */
export function tool<I extends z.ZodObject, O extends z.ZodObject>(definition: Definition<I, O>): Tool {
  const { name, title, description, effect, idempotent, open, input, output } = definition;
  const { schema, isStrict } = listedInput(input);
  if (isStrict !== (open === undefined)) throw new Error(`${name}: an open argument is named by \`open\``);
  return {
    ...definition,
    run: definition.run as Tool["run"], // its input was parsed by `input`
    listed: {
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
    },
  };
}

/** The schema of an answer, open as in OpenAPI. */
function published(schema: z.ZodObject) {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io: "output",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  // A named schema stands among the definitions; clients want the object itself at the top.
  const name = made.$ref?.replace("#/$defs/", "");
  const { $ref: _named, ...rest } = made;
  const { id: _id, ...whole } = { ...(name ? made.$defs?.[name] : {}), ...rest };
  return whole;
}

/** Fields that say more than this are published by name alone. */
const MOST_FIELD_CHARACTERS = 300;

/**
 * A schema of an answer without the insides of its large fields, which OpenAPI has: clients read all tools at once, and many
 * hand them to a model.
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
