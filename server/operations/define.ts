import { z } from "zod";
import {
  type CallerKind,
  type Definition,
  type Endpoint,
  type EndpointResult,
  endpoint,
  type HttpMethod,
  type Parsed,
  type RequestContext,
} from "@/server/api/endpoint";
import type { Raw, Reply } from "@/server/api/transport";
import { PathId } from "@/server/contract/common";
import { type ProjectRight, scopeOf } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import type { ErrorCode } from "@/server/platform/errors/errors";

/** The callers of an operation, and the right that they need. A key needs the right through its scope. */
type By = { auth: readonly CallerKind[]; right?: ProjectRight; scope?: Scope };
const keyed = (right: ProjectRight): Pick<By, "right" | "scope"> => ({
  right,
  scope: scopeOf(right) ?? undefined,
});
export const byPeople: By = { auth: ["human_session"] };
export const byAnybody: By = { auth: ["anonymous", "service_principal", "human_session", "panel_session"] };
export const byKeys = (right: ProjectRight): By => ({ auth: ["service_principal"], ...keyed(right) });
export const byKeysAndPeople = (right: ProjectRight): By => ({
  auth: ["service_principal", "human_session"],
  ...keyed(right),
});
export const byKeysAndEmbeds = (right: ProjectRight): By => ({
  auth: ["service_principal", "panel_session"],
  ...keyed(right),
});
export const byEveryCaller = (right: ProjectRight): By => ({
  auth: ["service_principal", "human_session", "panel_session"],
  ...keyed(right),
});

type Name<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | Name<Rest> : never;
type ParamsOf<P extends string> = { [N in Name<P>]: string };
type QueryOf<Q> = Q extends z.ZodObject ? z.input<Q> : unknown;
type BodyOf<B> = B extends z.ZodObject
  ? z.input<B>
  : B extends z.ZodType
    ? undefined extends z.input<B>
      ? { body?: z.input<B> }
      : { body: z.input<B> }
    : unknown;

declare const TYPES: unique symbol;

/**
 * An operation that does not read the HTTP request, so that other interfaces can offer it. Its input is one object:
 * path parameters, query fields and body fields; a body that is not a plain object is the field `body`.
 */
export type Operation<Input, Output> = Endpoint & {
  readonly [TYPES]: { input: Input; output: Output };
};

type Facts<Q, B, O> = Omit<
  Definition<undefined, Q, B, O>,
  "method" | "path" | "tags" | "auth" | "right" | "scope" | "params" | "errors" | "run"
> & {
  /** Errors of this operation, besides the one that its path implies and those of every endpoint. */
  errors?: readonly ErrorCode[];
  /** Needed only if a path parameter has a description. */
  params?: z.ZodObject;
};
type Asked<P extends string, Q, B> = ParamsOf<P> & { query: Parsed<Q>; body: Parsed<B> };

type Define = {
  <
    const P extends `/${string}`,
    Q extends z.ZodObject | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    O extends z.ZodType = z.ZodType,
  >(
    path: P,
    spec: Facts<Q, B, O> & {
      run(
        ctx: Ctx,
        request: Asked<P, Q, B> & Pick<RequestContext, "idempotencyKey">,
      ): Promise<z.output<O> | Reply<z.output<O>>>;
    },
  ): Operation<ParamsOf<P> & QueryOf<Q> & BodyOf<B>, z.output<O>>;
  <
    const P extends `/${string}`,
    Q extends z.ZodObject | undefined = undefined,
    B extends z.ZodType | undefined = undefined,
    O extends z.ZodType | Raw = Raw,
  >(
    path: P,
    spec: Facts<Q, B, O> & {
      /** Replaces `run`, for operations that read the HTTP request itself, or return bytes or a stream. */
      http(ctx: Ctx, request: Asked<P, Q, B> & RequestContext): Promise<EndpointResult<O>>;
    },
  ): Endpoint;
};

/** The error of a path that names something unknown. */
function errorsOfPath(names: string[]): ErrorCode[] {
  if (names.length === 0) return [];
  const isOfCatalog = names.some((name) => name === "capability_key" || name === "model");
  return [isOfCatalog ? "UNKNOWN_CAPABILITY" : "NotFound"];
}

/** Both forms of `Define` without the types of their schemas. */
type Spec = Facts<z.ZodObject | undefined, z.ZodType | undefined, z.ZodType | Raw> &
  Record<"run" | "http", (ctx: Ctx, request: object) => Promise<never>>;

/**
 * Defines operations under one heading of the reference, for the same callers. The path types the parameters of `run` and
 * implies the first error.
 */
export function operations(tag: string, by: By) {
  const define = (method: HttpMethod) =>
    ((path: `/${string}`, { errors = [], params, run, http = run, ...facts }: Spec) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      const ids = z.object(Object.fromEntries(names.map((name) => [name, PathId])));
      return endpoint({
        ...facts,
        ...by,
        tags: [tag],
        method,
        path,
        params: names.length > 0 ? (params ?? ids) : undefined,
        errors: [...new Set([...errorsOfPath(names), ...errors])],
        run: (ctx, { params: named, ...rest }) => http(ctx, { ...named, ...rest }),
      });
    }) as unknown as Define; // the types of `run` and `http` are those of the schemas that parse their requests
  return {
    get: define("GET"),
    post: define("POST"),
    put: define("PUT"),
    patch: define("PATCH"),
    delete: define("DELETE"),
  };
}
