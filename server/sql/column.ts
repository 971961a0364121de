/** A column, or a parameter, as PostgreSQL has it (`type`, `nullable`) and as TypeScript sees it (`T`). */
export type Column<T = unknown> = {
  readonly type: string;
  readonly nullable: boolean;
  /** Why it is never null here, where the server cannot show it. */
  readonly why?: string;
  readonly __?: T;
};
// biome-ignore lint/suspicious/noExplicitAny: a shape holds columns of every type
export type Shape = { readonly [name: string]: Column<any> };
/** The row of a shape. */
export type Of<S extends Shape> = { [N in keyof S]: TypeOf<S[N]> };
type TypeOf<C> = C extends Column<infer T> ? T : never;
/** The parameters of a shape: what may be null may be left out. */
export type Given<S extends Shape> = {
  [N in keyof S as null extends TypeOf<S[N]> ? never : N]: TypeOf<S[N]>;
} & { [N in keyof S as null extends TypeOf<S[N]> ? N : never]?: TypeOf<S[N]> | undefined };

/** A column of this SQL type, not null unless said. Those of tables are in `server/generated/schema.ts`. */
export const column = <T>(type: string, nullable = false): Column<T> => ({ type, nullable });

/** Each argument is one name or several with a space between. */
type Word<N extends string> = N extends `${infer First} ${infer Rest}` ? First | Word<Rest> : N;
/** An argument that names a missing column is an error at its own place; the others keep their types. */
type Named<S extends Shape, N extends string> = N extends string
  ? [Word<N>] extends [keyof S]
    ? N
    : never
  : never;

/** Some columns of a table, in this order: `pick(job, "id status")`. */
export function pick<S extends Shape, N extends string>(
  from: S,
  ...names: (N & Named<S, N>)[]
): Pick<S, Word<N> & keyof S> {
  const words = names.flatMap((each) => each.split(" "));
  return Object.fromEntries(words.map((name) => [name, from[name]])) as Pick<S, Word<N> & keyof S>; // exactly these keys
}

/** All columns of a table but these. */
export function omit<S extends Shape, N extends string>(from: S, ...names: (N & keyof S)[]): Omit<S, N> {
  return Object.fromEntries(
    Object.entries(from).filter(([name]) => !(names as string[]).includes(name)),
  ) as Omit<S, N>; // without exactly these keys
}

/** The columns that a new row is given: all but those of `later`. */
export function withoutLater<S extends Shape, L extends object>(from: S, later: L): Omit<S, keyof L> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !(name in later))) as Omit<S, keyof L>; // likewise
}

/** The same column where it may be null: the outer side of a join, or a parameter that may be left out. */
export const maybe = <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true });
/** The same column where it is never null, although the server cannot show it; `why` is for the reader. */
export const present = <T>(of: Column<T>, why: string): Column<NonNullable<T>> => ({
  ...(of as Column<NonNullable<T>>), // the same column
  nullable: false,
  why,
});

type Prefixed<P extends string, S extends Shape> = {
  [N in keyof S & string as `${P}${N}`]: Column<TypeOf<S[N]> | null>;
};
/** The same columns under longer names, each of which may be null: one row beside another, or none. */
export const beside = <P extends string, S extends Shape>(prefix: P, of: S): Prefixed<P, S> =>
  Object.fromEntries(Object.entries(of).map(([name, each]) => [prefix + name, maybe(each)])) as Prefixed<
    P,
    S
  >; // the same keys, longer
/** A row under the names that `beside` gives its columns. */
export function asBeside<P extends string, S extends Shape>(prefix: P, of: S, row: Of<S> | null) {
  const values: object = row ?? {};
  return Object.fromEntries(
    Object.keys(of).map((name) => [prefix + name, (values as Record<string, unknown>)[name] ?? null]),
  ) as { [N in keyof S & string as `${P}${N}`]: TypeOf<S[N]> | null }; // likewise
}

export const text: Column<string> = column("text");
export const texts: Column<string[]> = column("text[]");
export const int4: Column<number> = column("int4");
export const int8: Column<number> = column("int8");
export const bool: Column<boolean> = column("bool");
export const timestamptz: Column<Date> = column("timestamptz");
/** JSON of this type; nothing but the type says what is in it. */
export const jsonb = <T>(): Column<T> => column("jsonb");
/** JSON that a statement makes of rows: null where there are none. */
export const json = <T>(): Column<T> => column("json", true);

/** `a.id, a.status`, for a list of columns. */
export const names = (of: Shape, alias?: string): string =>
  Object.keys(of)
    .map((name) => (alias ? `${alias}.${name}` : name))
    .join(", ");

/** The same with the names that `beside` gives: `a.id AS frame_id`. */
export const namesBeside = (prefix: string, of: Shape, alias: string): string =>
  Object.keys(of)
    .map((name) => `${alias}.${name} AS ${prefix}${name}`)
    .join(", ");
