/** The keys of a table that has no others than its type says: a constant, or a record that was parsed. */
export const ownKeys = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];
