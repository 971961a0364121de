/** A column or a parameter, with its PostgreSQL type (`type`, `nullable`) and its TypeScript type (`T`). */
export type Column<T = unknown> = {
  readonly type: string;
  readonly nullable: boolean;
  /** The reason why it is never null here, if the server cannot prove it. */
  readonly why?: string;
  readonly __?: T;
};
// biome-ignore lint/suspicious/noExplicitAny: a shape holds columns of every type
export type Shape = { readonly [name: string]: Column<any> };
/** The row of a shape. */
export type Of<S extends Shape> = { [N in keyof S]: TypeOf<S[N]> };
type TypeOf<C> = C extends Column<infer T> ? T : never;
/** The parameters of a shape; those that may be null are optional. */
export type Given<S extends Shape> = {
  [N in keyof S as null extends TypeOf<S[N]> ? never : N]: Input<TypeOf<S[N]>>;
} & { [N in keyof S as null extends TypeOf<S[N]> ? N : never]?: Input<TypeOf<S[N]>> | undefined };
/** A parameter takes readonly lists too. */
type Input<T> = T extends unknown[] ? Readonly<T> : T;

/** A column of this SQL type, not null by default. Columns of tables are in `server/generated/schema.ts`. */
export const column = <T>(type: string, nullable = false): Column<T> => ({ type, nullable });

/** A list column of a table. Prisma declares lists without NOT NULL. */
export const list = <T>(type: string): Column<T[]> => ({
  ...column(type),
  why: "Every insert gives its lists.",
});

/** Each argument is one name, or several names separated by spaces. */
type Word<N extends string> = N extends `${infer First} ${infer Rest}` ? First | Word<Rest> : N;
/** The compiler reports an argument that names a missing column at its own place; the others keep their types. */
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
  return Object.fromEntries(words.map((name) => [name, from[name]])) as Pick<S, Word<N> & keyof S>; // built from exactly these keys
}

/** All columns of a table but these. */
export function omit<S extends Shape, N extends string>(from: S, ...names: (N & keyof S)[]): Omit<S, N> {
  return Object.fromEntries(
    Object.entries(from).filter(([name]) => !(names as string[]).includes(name)),
  ) as Omit<S, N>; // every key but these
}

/** The columns that a new row is given: all but those of `later`. */
export function withoutLater<S extends Shape, L extends object>(from: S, later: L): Omit<S, keyof L> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !(name in later))) as Omit<S, keyof L>; // every key but those of `later`
}

/** The same column, nullable: the outer side of a join, or an optional parameter. */
export const maybe = <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true });
/** The same column, never null although the server cannot prove it; `why` gives the reason. */
export const present = <T>(of: Column<T>, why: string): Column<NonNullable<T>> => ({
  ...(of as Column<NonNullable<T>>), // only the nullability changes
  nullable: false,
  why,
});

/**
 * Columns of a table, for rows that the server cannot trace to the table, such as those of a function. `why`
 * gives the reason why those that are never null in the table are never null here.
 */
export const untraced = <S extends Shape>(of: S, why: string): S =>
  Object.fromEntries(
    Object.entries(of).map(([name, each]) => [name, each.nullable ? each : { ...each, why }]),
  ) as S; // the same keys and types

type Prefixed<P extends string, S extends Shape> = {
  [N in keyof S & string as `${P}${N}`]: Column<TypeOf<S[N]> | null>;
};
/** The same columns with a prefix and nullable, for a joined row that may be missing. */
export const beside = <P extends string, S extends Shape>(prefix: P, of: S): Prefixed<P, S> =>
  Object.fromEntries(Object.entries(of).map(([name, each]) => [prefix + name, maybe(each)])) as Prefixed<
    P,
    S
  >; // the same keys with the prefix
/** Makes a function that gives a row the prefixed names of `beside`; all columns are null if there is no row. */
export function toBeside<P extends string, S extends Shape>(prefix: P, of: S) {
  const places = Object.keys(of).map((name) => ({ name, place: prefix + name }));
  return (row: Of<S> | null) => {
    const given: Record<string, unknown> = row ?? {};
    const values: Record<string, unknown> = {};
    for (const { name, place } of places) values[place] = given[name] ?? null;
    return values as { [N in keyof S & string as `${P}${N}`]: TypeOf<S[N]> | null }; // the same keys with the prefix
  };
}

type Joined<Parts extends readonly object[]> = Parts extends readonly [
  infer First,
  ...infer Rest extends readonly object[],
]
  ? Rest extends readonly []
    ? First
    : Omit<First, keyof Joined<Rest>> & Joined<Rest>
  : unknown;

/**
 * Joins objects to one wide row; a later part replaces columns of an earlier one. Node 20 needs 150 to 300 µs for a literal of
 * spreads with seventy columns, and 3 to 5 for this (Node 20.20; Node 24: 2 and 3), and each call makes several such rows.
 */
export const joinColumns = <Parts extends readonly object[]>(...parts: Parts): Joined<Parts> =>
  Object.assign({}, ...parts);

export const text: Column<string> = column("text");
export const texts: Column<string[]> = column("text[]");
export const int4: Column<number> = column("int4");
export const int8: Column<number> = column("int8");
export const bool: Column<boolean> = column("bool");
export const timestamptz: Column<Date> = column("timestamptz");
/** The result of a function that is called for its effect. */
export const nothing: Column<unknown> = column("void", true);
/** JSON of this type; the type is not checked at run time. */
export const jsonb = <T>(): Column<T> => column("jsonb");
/** JSON that a statement aggregates from rows: null if there are none. */
export const json = <T>(): Column<T> => column("json", true);

/** A list of columns in SQL: `a.id, a.status`. */
export const names = (of: Shape, alias?: string): string =>
  Object.keys(of)
    .map((name) => (alias ? `${alias}.${name}` : name))
    .join(", ");

/** The same with the prefixed names of `beside`: `a.id AS frame_id`. */
export const namesBeside = (prefix: string, of: Shape, alias: string): string =>
  Object.keys(of)
    .map((name) => `${alias}.${name} AS ${prefix}${name}`)
    .join(", ");
