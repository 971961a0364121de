import type { TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import { z } from "zod";
import type { Endpoint } from "@/server/api/endpoint";
import { isReply } from "@/server/api/transport";
import type { Ctx } from "@/server/domain/ctx";
import type { Operation } from "@/server/operations/define";
import { type HumanCtx, human } from "./init";

/*
 * Procedures of the panel, each defined in one line: from an operation of the API (`query`, `mutation`) or, without one, from
 * a verb and the schemas of its input and output (`reads`, `does`, `acts`). The verbs check the rights, so people may do more
 * here than over HTTP.
 */

type Verb<Input extends z.ZodType, Answer> = (
  ctx: HumanCtx,
  input: z.output<Input>,
) => Answer | Promise<Answer>;
type Asked<Input> = { ctx: HumanCtx; input: z.output<Input> };

/** The input of a procedure that needs none: anything sent is ignored. */
export const Nothing = z.void();

/** A procedure for signed-in people that reads. */
export function reads<Input extends z.ZodType, Output extends z.ZodType>(
  input: Input,
  output: Output,
  verb: Verb<Input, z.input<Output>>,
): TRPCQueryProcedure<{ input: z.input<Input>; output: z.output<Output>; meta: unknown }> {
  const call = (asked: Asked<Input>) => verb(asked.ctx, asked.input);
  return taking(input)
    .output(output)
    .query(call as never) as never; // its types are those of the schemas
}

/** A procedure for signed-in people that changes something, or whose input must not be in a URL. */
export function does<Input extends z.ZodType, Output extends z.ZodType>(
  input: Input,
  output: Output,
  verb: Verb<Input, z.input<Output>>,
): TRPCMutationProcedure<{ input: z.input<Input>; output: z.output<Output>; meta: unknown }> {
  const call = (asked: Asked<Input>) => verb(asked.ctx, asked.input);
  return taking(input)
    .output(output)
    .mutation(call as never) as never; // its types are those of the schemas
}

const Done = z.object({ done: z.literal(true) });

/** A procedure like `does` whose response only confirms the change. */
export const acts = <Input extends z.ZodType>(input: Input, verb: Verb<Input, void>) =>
  does(input, Done, async (ctx, parsed) => {
    await verb(ctx, parsed);
    return { done: true } as const;
  });

/** Starts a procedure with this input, or without one; both builders have the same methods. */
const taking = (input: z.ZodType): typeof human =>
  input === Nothing ? human : (human.input(input) as never);

/*
 * An operation has one input object of all path, query and body fields; a body that is not a plain object is the field
 * `body`.
 */

type Options<Output, Needed, Shown> = {
  /** Fields that are optional for programs and required here, because a page belongs to a project. */
  needs?: readonly Needed[];
  /** Converts the output for the panel. */
  view?: (output: Output, ctx: Ctx) => NoInfer<Shown> | Promise<NoInfer<Shown>>;
  /** The schema of the converted output, if it has more than the operation's. */
  shown?: z.ZodType<Shown>;
};
type Needing<Input, Needed extends keyof Input> = Input & { [N in Needed]-?: NonNullable<Input[N]> };

/**
 * A query procedure of an operation. The router chooses query or mutation, because a GET is not always a query, nor a POST a
 * mutation.
 */
export function query<Input, Output, Needed extends keyof Input & string = never>(
  operation: Operation<Input, Output>,
  options: Options<Output, Needed, Output> = {},
): TRPCQueryProcedure<{ input: Needing<Input, Needed>; output: Output; meta: unknown }> {
  const { input, output, call } = procedureOf(operation, options);
  return human.input(input).output(output).query(call) as never; // its types are those of the operation's schemas
}

/** A query procedure whose output has more than the operation's. */
export function widerQuery<Input, Output, Shown, Needed extends keyof Input & string = never>(
  operation: Operation<Input, Output>,
  options: Required<Pick<Options<Output, Needed, Shown>, "shown" | "view">> & { needs?: readonly Needed[] },
): TRPCQueryProcedure<{ input: Needing<Input, Needed>; output: Shown; meta: unknown }> {
  const { input, output, call } = procedureOf(operation, options);
  return human.input(input).output(output).query(call) as never; // its types are those of the operation's schema and `shown`
}

/** A mutation procedure of an operation that changes something, or costs too much to repeat without a click. */
export function mutation<Input, Output, Needed extends keyof Input & string = never>(
  operation: Operation<Input, Output>,
  options: Options<Output, Needed, Output> = {},
): TRPCMutationProcedure<{ input: Needing<Input, Needed>; output: Output; meta: unknown }> {
  const { input, output, call } = procedureOf(operation, options);
  return human.input(input).output(output).mutation(call) as never; // its types are those of the operation's schemas
}

function procedureOf<Output, Needed extends string, Shown>(
  operation: Endpoint,
  { needs = [], view, shown }: Options<Output, Needed, Shown>,
) {
  const { params, query, body, run } = operation;
  return {
    input: inputOf(operation, needs),
    output: shown ?? (operation.output as z.ZodType<Shown>), // an `Operation` returns JSON
    async call({ ctx, input }: { ctx: Ctx; input: unknown }): Promise<Output | Shown> {
      const given = (input ?? {}) as Record<string, unknown>; // parsed by inputOf
      const isNamed = (name: string) =>
        [params, query].some((part) => part && Object.hasOwn(part.shape, name));
      const parts = {
        params: params && only(given, (name) => Object.hasOwn(params.shape, name)),
        query: query && only(given, (name) => Object.hasOwn(query.shape, name)),
        body: body instanceof z.ZodObject ? only(given, (name) => !isNamed(name)) : given.body,
      };
      // An `Operation` reads only these parts of the HTTP request.
      const answer = await run(ctx, parts as Parameters<Endpoint["run"]>[1]);
      const found = (isReply(answer) ? answer.output : answer) as Output;
      return view ? view(found, ctx) : found;
    },
  };
}

/**
 * The schema of a procedure's input is as strict as that of the body. Without a body, unknown fields are
 * ignored, because the pages of an infinite query also send a direction.
 */
function inputOf({ params, query, body }: Endpoint, needs: readonly string[]): z.ZodType {
  const needed = Object.fromEntries(needs.map((name) => [name, z.string().min(1)]));
  const named = { ...params?.shape, ...query?.shape, ...needed };
  const hasFields = Object.keys(named).length > 0;
  if (!body) return z.object(named);
  if (!(body instanceof z.ZodObject)) return z.object({ ...named, body });
  return hasFields ? z.strictObject(named).and(body) : body;
}

const only = (given: Record<string, unknown>, isIn: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(given).filter(([name]) => isIn(name)));
