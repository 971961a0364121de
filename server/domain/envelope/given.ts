/** Fields without those that are null or absent, which mean the same. */
export function given(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined && fields[name] !== null) kept[name] = fields[name];
  }
  return kept;
}

/** An object that says nothing is none. */
export function said<Fields extends object>(fields: Fields | null | undefined): Fields | null {
  const kept = given({ ...fields });
  return Object.keys(kept).length > 0 ? (kept as Fields) : null; // what was left out was optional
}
