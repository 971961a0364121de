/** Finds the entry that a path matches, with the values of its parameters. */
export type PathFinder<T> = (path: string) => { found: T; params: Record<string, string> } | null;

type Node<T> = {
  literals: Map<string, Node<T>>;
  parameter: { node: Node<T> } | null;
  /** The node of a last parameter that takes the rest of a path. */
  rest: Node<T>["end"];
  end: { value: T; names: string[] } | null;
};

const node = <T>(): Node<T> => ({ literals: new Map(), parameter: null, rest: null, end: null });

/**
 * A finder over path templates such as `/v1/jobs/{job_id}`. A literal wins over a parameter, and a parameter over the rest of
 * a path, such as `/v1/models/{model*}`. Parameters are decoded; an empty one, or one that cannot be decoded, matches
 * nothing.
 */
export function pathFinder<T>(entries: Iterable<readonly [template: string, value: T]>): PathFinder<T> {
  const root = node<T>();
  for (const [template, value] of entries) {
    const names: string[] = [];
    let at = root;
    const segments = template.slice(1).split("/");
    const rest = segments.at(-1)?.endsWith("*}") ? segments.pop() : undefined;
    for (const segment of segments) {
      if (segment.startsWith("{")) {
        names.push(segment.slice(1, -1));
        at.parameter ??= { node: node() };
        at = at.parameter.node;
      } else {
        const next = at.literals.get(segment) ?? node<T>();
        at.literals.set(segment, next);
        at = next;
      }
    }
    if (rest ? at.rest : at.end) throw new Error(`two templates match the same paths as ${template}`);
    if (rest) at.rest = { value, names: [...names, rest.slice(1, -2)] };
    else at.end = { value, names };
  }

  function walk(at: Node<T>, segments: string[], depth: number, values: string[]): Node<T>["end"] {
    if (depth === segments.length) return at.end;
    const segment = segments[depth]!;
    const literal = at.literals.get(segment);
    const found = literal ? walk(literal, segments, depth + 1, values) : null;
    if (found || segment === "") return found;
    if (at.parameter) {
      values.push(segment);
      const below = walk(at.parameter.node, segments, depth + 1, values);
      if (below) return below;
      values.pop();
    }
    const others = segments.slice(depth);
    if (!at.rest || others.includes("")) return null;
    values.push(others.join("/"));
    return at.rest;
  }

  return (path) => {
    const values: string[] = [];
    const end = walk(root, path.slice(1).split("/"), 0, values);
    if (!end) return null;
    const params: Record<string, string> = {};
    for (const [position, name] of end.names.entries()) {
      const value = decoded(values[position]!);
      if (value === null) return null;
      params[name] = value;
    }
    return { found: end.value, params };
  };
}

function decoded(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
