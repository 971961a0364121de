import { FIRST_PAGE, type PagePosition, type SearchParams, singleValues } from "@/components/ui/paging";

/** Parses one value of a URL. An unknown value counts as absent. */
export type Param<Value = string | undefined> = (text: string | undefined) => Value;

export const oneOf =
  <const Value extends string>(options: readonly Value[]): Param<Value | undefined> =>
  (text) =>
    options.find((each) => each === text);
/** Like `oneOf`, with a default for an absent or unknown value. */
export const oneOfOr =
  <const Value extends string>(usual: Value, options: readonly Value[]): Param<Value> =>
  (text) =>
    options.find((each) => each === text) ?? usual;
/** Text of at most this many characters; a longer one counts as absent. */
export const textParam =
  (most: number): Param =>
  (text) =>
    text && text.length <= most ? text : undefined;
/** A search text: trimmed, and truncated to a limit. */
export const searchParam =
  (most: number): Param =>
  (text) =>
    text?.trim().slice(0, most) || undefined;
export const matchingParam =
  (form: RegExp): Param =>
  (text) =>
    text !== undefined && form.test(text) ? text : undefined;
/** An id with this prefix; without a prefix, any id. */
export const idOf = (prefix = "[a-z]{1,8}"): Param =>
  matchingParam(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));

type Params = Record<string, Param<string | undefined>>;
type Optional<Filters extends Params> = {
  [Name in keyof Filters]: undefined extends ReturnType<Filters[Name]> ? Name : never;
}[keyof Filters];
type Values<Filters extends Params> = {
  [Name in Optional<Filters>]?: ReturnType<Filters[Name]> | undefined;
} & { [Name in Exclude<keyof Filters, Optional<Filters>>]: ReturnType<Filters[Name]> };

/** The state of a page in its URL, such as its filters. */
export function addressState<const Filters extends Params>(filters: Filters) {
  return {
    read(params: SearchParams): Values<Filters> {
      const given = singleValues(params);
      const read = Object.entries(filters).map(([name, param]) => [name, param(given[name])]);
      return Object.fromEntries(read.filter(([, value]) => value !== undefined)); // each value was parsed by its own parameter
    },
  };
}

/** Changes filters and returns to the list's first page. */
export const withFilter = <State extends PagePosition>(state: State, change: Partial<State>): State => ({
  ...state,
  ...change,
  ...FIRST_PAGE,
});

/** The filters and the position of a cursor-paginated list in its URL. */
export function listState<const Filters extends Params>(filters: Filters, cursor: Param) {
  type State = Values<Filters> & PagePosition;
  const { read } = addressState({ ...filters, cursor, trail: textParam(2_000) });
  return {
    read: (params: SearchParams) => read(params) as unknown as State, // the filters and the position
    isFiltered: (state: State) => Object.keys(filters).some((name) => state[name as keyof State]),
  };
}
