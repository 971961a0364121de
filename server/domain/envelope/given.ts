/** Returns the fields that are neither null nor absent, since both mean the same. */
export function given(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined && fields[name] !== null) kept[name] = fields[name];
  }
  return kept;
}

/** Returns the given fields of an object, or null if none is given. */
export function said<Fields extends object>(fields: Fields | null | undefined): Fields | null {
  const kept = given({ ...fields });
  return Object.keys(kept).length > 0 ? (kept as Fields) : null; // only optional fields may be null or absent, so the rest is still complete
}
