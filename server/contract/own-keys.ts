/**
 * Object.keys with the type's own keys. The cast is safe for constants and parsed records, which have no other keys.
 */
export const ownKeys = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];
