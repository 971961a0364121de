import type { FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import type { components, paths } from "./openapi.gen";
import type { Transport } from "./transport";

export type Schemas = components["schemas"];

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: infer Operation }
    ? [Operation] extends [undefined]
      ? never
      : P
    : never;
}[keyof paths];
type Init<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M>;
type Arguments<I> = undefined extends I ? [init?: I] : [init: I];
type Answer<P extends keyof paths, M extends Method> = paths[P] extends {
  [K in M]: infer Operation extends Record<string | number, unknown>;
}
  ? NonNullable<FetchResponse<Operation, object, "application/json">["data"]>
  : never;
export type TypedCall<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...init: Arguments<Init<P, M>>
) => Promise<Answer<P, M>>;

/** The parts of the client that this package's helpers need. */
export type Core = {
  base: string;
  transport: Transport;
  projectId: string | undefined;
  get: TypedCall<"get">;
  post: TypedCall<"post">;
};
