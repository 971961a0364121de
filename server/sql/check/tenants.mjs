// Reads from PostgreSQL's parse tree which rows of tenants a statement bounds, and by what.

const TENANT = /^(project|organization)_id$/;
/** Columns that name one row, or the rows of one thing. */
const NAMES_A_ROW = /(^|_)(id|hash|token|email|by_key)$/;
const CASTS = new Set(["RELABELTYPE", "COERCETODOMAIN", "COERCEVIAIO", "ARRAYCOERCEEXPR"]);
const RELATION = "0";
const INNER = "0";
const LEFT = "1";
const RIGHT = "3";

const bare = (node) => (node && CASTS.has(node._) ? bare(node.arg) : node);

/**
 * Calls `visit` with this node and each node below it, except those below a node for which `visit` returned
 * true.
 */
function walk(node, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit);
  else if (node && typeof node === "object" && !visit(node))
    for (const key of Object.keys(node)) if (key !== "_") walk(node[key], visit);
}

/** The names of the tables and views that have rows of tenants. */
export async function readTenantTables(client) {
  const { rows } = await client.query(
    `SELECT relname AS name FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'p') AND attname IN ('project_id', 'organization_id')
       AND NOT attisdropped GROUP BY 1`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * How a statement reaches rows of tenants. `none`: it reads and changes none (it may insert some). `tenant`:
 * a parameter names the tenant of each. `id`: a parameter names the row itself, or one that it belongs to.
 * `neither`: rows of the tables in `loose` are reached without either.
 */
export function reachOf(tree, catalog, tenantTables) {
  const found = { isNone: true, isTenant: true, loose: [] };
  walk(tree, (node) => {
    if (node._ === "QUERY") judge(node, catalog, tenantTables, found);
    return false;
  });
  const kind = found.isNone ? "none" : found.loose.length > 0 ? "neither" : found.isTenant ? "tenant" : "id";
  return { kind, loose: [...new Set(found.loose)] };
}

/**
 * Judges one query of a statement. Queries within it are judged separately, and may refer to rows of the
 * queries around them.
 */
function judge(query, catalog, tenantTables, found) {
  const tables = query.rtable ?? [];
  const conditions = conditionsOf(query.jointree);
  const relations = [...conditions.places].filter((place) => tables[place - 1].rtekind === RELATION);
  const nameOf = (place) => catalog.rel(Number(tables[place - 1].relid));
  const bound = new Map();
  const scope = {
    nameAt: (place, column) => columnName(tables[place - 1], column, catalog),
    // The result of a subquery, a function or a list of values is known. Rows of a table are known once they are bounded.
    isKnown: (place) => bound.has(place) || !relations.includes(place),
    isEqual: (operator) => catalog.op(operator) === "=",
  };
  for (let before = -1; before !== bound.size; ) {
    before = bound.size;
    for (const place of relations) {
      const by = bindingOf(conditions, place, scope);
      if (by && bound.get(place) !== "tenant") bound.set(place, by);
    }
  }
  for (const place of relations.filter((each) => tenantTables.has(nameOf(each)))) {
    found.isNone = false;
    if (!bound.has(place)) found.loose.push(nameOf(place));
    else if (bound.get(place) !== "tenant") found.isTenant = false;
  }
}

function columnName(entry, column, catalog) {
  if (!entry) return "";
  if (entry.rtekind === RELATION) return catalog.attr(Number(entry.relid), Number(column))?.name ?? "";
  return entry.eref?.colnames?.[Number(column) - 1] ?? "";
}

/** The conditions that a query's rows meet, each with the tables whose rows it bounds. */
function conditionsOf(jointree) {
  const places = new Set();
  const list = [];
  const placesBelow = (node) => {
    const below = new Set();
    walk(node, (each) => {
      if (each._ === "RANGETBLREF") below.add(Number(each.rtindex));
      return each._ === "SUBLINK" || each._ === "QUERY";
    });
    return below;
  };
  const visit = (node) => {
    if (!node) return;
    if (node._ === "RANGETBLREF") places.add(Number(node.rtindex));
    if (node._ === "FROMEXPR") {
      for (const each of node.fromlist ?? []) visit(each);
      if (node.quals) list.push({ condition: node.quals, of: null });
    }
    if (node._ === "JOINEXPR") {
      visit(node.larg);
      visit(node.rarg);
      // The outer side of a join keeps its rows, whatever the condition says.
      const side = { [INNER]: null, [LEFT]: node.rarg, [RIGHT]: node.larg }[node.jointype];
      if (node.quals && side !== undefined)
        list.push({ condition: node.quals, of: side === null ? null : placesBelow(side) });
    }
  };
  visit(jointree);
  return { places, list };
}

/** Returns how the conditions bound the rows of the table at this place: "tenant", "id", or null. */
function bindingOf({ list }, place, scope) {
  const found = list
    .filter(({ of }) => of === null || of.has(place))
    .map(({ condition }) => binds(condition, place, scope));
  return strongest(found);
}

const strongest = (found) => (found.includes("tenant") ? "tenant" : found.includes("id") ? "id" : null);

function binds(condition, place, scope) {
  if (condition._ === "BOOLEXPR" && condition.boolop === "and")
    return strongest(condition.args.map((each) => binds(each, place, scope)));
  if (condition._ === "BOOLEXPR" && condition.boolop === "or")
    return bindsInEach(condition.args, place, scope);
  if (condition._ !== "OPEXPR" && condition._ !== "SCALARARRAYOPEXPR" && condition._ !== "SUBLINK")
    return null;
  return bindsByEquality(condition, place, scope);
}

/** A caller without a restriction passes null for it. Only the tenant may be optional in this way. */
function bindsInEach(arms, place, scope) {
  const isAbsent = (arm) =>
    arm._ === "NULLTEST" && arm.nulltesttype === "0" && isGiven(arm.arg, place, scope);
  const others = arms.filter((arm) => !isAbsent(arm));
  const found = others.map((arm) => binds(arm, place, scope));
  if (others.length === 0 || found.includes(null)) return null;
  const weakest = found.includes("id") ? "id" : "tenant";
  return others.length < arms.length && weakest === "id" ? null : weakest;
}

function bindsByEquality(condition, place, scope) {
  const [one, other] = sidesOf(condition, scope);
  for (const [column, value] of [
    [one, other],
    [other, one],
  ]) {
    if (column?._ !== "VAR" || column.varlevelsup !== "0" || Number(column.varno) !== place) continue;
    if (!isGiven(value, place, scope)) continue;
    const name = scope.nameAt(place, column.varattno);
    if (TENANT.test(name)) return "tenant";
    if (NAMES_A_ROW.test(name)) return "id";
  }
  return null;
}

/** The two sides of a comparison for equality; none for another operator. */
function sidesOf(condition, { isEqual }) {
  if (condition._ === "SUBLINK") {
    const { testexpr, subLinkType } = condition;
    const isIn = subLinkType === "2" && testexpr?._ === "OPEXPR" && isEqual(Number(testexpr.opno));
    return isIn ? [bare(testexpr.args[0]), condition] : [];
  }
  if (condition.args.length !== 2 || !isEqual(Number(condition.opno))) return [];
  if (condition._ === "SCALARARRAYOPEXPR" && condition.useOr !== "true") return [];
  return condition.args.map(bare);
}

/**
 * True if this value is known before the row is read: a parameter, a row that is already bounded, or a value
 * of an enclosing query.
 */
function isGiven(value, place, { isKnown }) {
  let isParameter = false;
  let isFree = true;
  walk(value, (node) => {
    if (node._ === "PARAM") isParameter = true;
    if (node._ === "SUBLINK" || node._ === "QUERY") isParameter = true;
    if (node._ === "VAR") {
      if (node.varlevelsup !== "0" || (Number(node.varno) !== place && isKnown(Number(node.varno))))
        isParameter = true;
      else isFree = false;
    }
    return node._ === "SUBLINK" || node._ === "QUERY";
  });
  return isParameter && isFree;
}
