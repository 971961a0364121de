// Reads PostgreSQL's parse tree of a statement (debug_print_parse): names, types and nullability. The types here are loose,
// because the tree is PostgreSQL's own.
/** Parses the text that PostgreSQL's nodeToString writes into objects. */
export function readTree(s) {
  let i = 0;
  const ws = () => {
    while (i < s.length && /\s/.test(s[i])) i++;
  };
  function token() {
    let t = "";
    while (i < s.length && !/[\s(){}]/.test(s[i])) {
      if (s[i] === "\\") i++;
      t += s[i++];
    }
    return t;
  }
  function str() {
    i++;
    let t = "";
    while (s[i] !== '"') {
      if (s[i] === "\\") i++;
      t += s[i++];
    }
    i++;
    return t;
  }
  function value() {
    ws();
    if (s[i] === "{") return node();
    if (s[i] === "(") {
      i++;
      const list = [];
      for (ws(); s[i] !== ")"; ws()) list.push(value());
      i++;
      if (list[0] === "b" || list[0] === "i" || list[0] === "o") return list.slice(1).map(Number);
      return list;
    }
    if (s[i] === '"') return str();
    const t = token();
    return t === "<>" ? null : t;
  }
  function node() {
    i++;
    const n = { _: token() };
    for (ws(); s[i] !== "}"; ws()) {
      if (s[i] === ":") {
        i++;
        const key = token();
        ws();
        if (s[i] === ":" || s[i] === "}") {
          n[key] = null;
          continue;
        }
        n[key] = value();
      } else value(); // the bytes of a constant
    }
    i++;
    return n;
  }
  return value();
}

const NEVER_NULL_AGG = new Set([2147, 2803]); // count
const MAY_BE_NULL_OPS = /^(->|->>|#>|#>>|-|\/)?$/;

/**
 * The columns that a statement returns, and whether each may be null. `params` returns whether the parameter
 * with a number may be null.
 */
export function analyze(query, catalog, params = () => true) {
  return { columns: columns({ catalog, params, cache: new Map() }, query, null) };
}

function columns(analysis, q, outer) {
  const { cache } = analysis;
  if (cache.has(q)) return cache.get(q);
  cache.set(q, null); // ends the recursion of a recursive CTE
  const ctx = { q, outer, sure: surely(q) };
  let list = q.returningList ?? (q.commandType === "1" ? q.targetList : null) ?? [];
  list = list.filter((t) => t.resjunk !== "true");
  let cols = list.map((t) => ({ name: t.resname, nullable: nullable(analysis, t.expr, ctx) }));
  if (q.setOperations) {
    const leaves = [];
    const walk = (n) => {
      if (n._ === "RANGETBLREF") return leaves.push(q.rtable[n.rtindex - 1]);
      walk(n.larg);
      walk(n.rarg);
    };
    walk(q.setOperations);
    const parts = leaves.map((l) => columns(analysis, l.subquery, ctx)).filter(Boolean);
    cols = cols.map((c, k) => ({ ...c, nullable: parts.some((p) => p[k]?.nullable) }));
  }
  cache.set(q, cols);
  return cols;
}

/** Columns that the WHERE of a SELECT proves not null. */
function surely(q) {
  const sure = new Set();
  if (q.commandType !== "1" || !q.jointree) return sure;
  const visit = (n) => {
    if (!n) return;
    if (n._ === "BOOLEXPR" && n.boolop === "and") n.args.forEach(visit);
    else if (n._ === "NULLTEST" && n.nulltesttype === "1" && bare(n.arg)) sure.add(key(bare(n.arg)));
    else if (n._ === "OPEXPR" || n._ === "SCALARARRAYOPEXPR")
      for (const a of n.args) {
        const v = bare(a);
        if (v) sure.add(key(v));
      }
  };
  visit(q.jointree.quals);
  return sure;
}

const bare = (n) =>
  n._ === "VAR" && n.varlevelsup === "0"
    ? n
    : n._ === "RELABELTYPE" || n._ === "COERCETODOMAIN"
      ? bare(n.arg)
      : null;
const key = (v) => `${v.varno}.${v.varattno}`;

function source(v, ctx) {
  let c = ctx;
  for (let l = Number(v.varlevelsup); l > 0 && c; l--) c = c.outer;
  return c && { c, rte: c.q.rtable[v.varno - 1] };
}

function cteOf(rte, c) {
  let x = c;
  for (let l = Number(rte.ctelevelsup); l > 0; l--) x = x.outer;
  return { cte: x.q.cteList.find((k) => k.ctename === rte.ctename), x };
}

/** True if the expression may be null, which is assumed unless a rule proves otherwise. */
function nullable(analysis, n, ctx) {
  return n ? (RULES[n._]?.(analysis, n, ctx) ?? true) : true;
}

const any = (analysis, xs, ctx) => (xs ?? []).some((x) => nullable(analysis, x, ctx));
const all = (analysis, xs, ctx) => xs.every((x) => nullable(analysis, x, ctx));

function mayVariable(analysis, n, ctx) {
  const found = source(n, ctx);
  if (!found) return true;
  if (n.varnullingrels?.length) return true;
  if (n.varreturningtype !== "0" && found.c.q.commandType !== "2") return true;
  if (n.varlevelsup === "0" && ctx.sure.has(key(n))) return false;
  const at = Number(n.varattno);
  if (at === 0) return false;
  return RELATION_RULES[found.rte.rtekind]?.(analysis, found, at) ?? true;
}

/** For each kind of range table entry: true if its column `at` may be null. */
const RELATION_RULES = {
  // a table or a view
  0(analysis, { rte }, at) {
    const { catalog } = analysis;
    if (rte.relkind !== "v") return at > 0 ? !catalog.attr(Number(rte.relid), at).notNull : false;
    const view = catalog.view(Number(rte.relid));
    return view ? columns(analysis, view, null)?.[at - 1]?.nullable : true;
  },
  // a subquery
  1: (analysis, { rte, c }, at) => columns(analysis, rte.subquery, c)?.[at - 1]?.nullable,
  // a join
  2: (analysis, { rte, c }, at) => nullable(analysis, rte.joinaliasvars[at - 1], c),
  // functions
  3(_analysis, { rte }, at) {
    const count = rte.functions.reduce((sum, f) => sum + Number(f.funccolcount), 0);
    return !(rte.funcordinality === "true" && at === count + 1);
  },
  // VALUES
  5: (analysis, { rte, c }, at) => rte.values_lists.some((row) => nullable(analysis, row[at - 1], c)),
  // a CTE
  6(analysis, { rte, c }, at) {
    const { cte, x } = cteOf(rte, c);
    const cols = columns(analysis, cte.ctequery, x);
    return cols ? cols[at - 1]?.nullable : false;
  },
  // GROUP BY
  9: (analysis, { rte, c }, at) => nullable(analysis, rte.groupexprs[at - 1], c),
};

const never = () => false;
const asItsArgument = (analysis, n, ctx) => nullable(analysis, n.arg, ctx);
const asAnyArgument = (analysis, n, ctx) => any(analysis, n.args, ctx);
const asAllArguments = (analysis, n, ctx) => all(analysis, n.args, ctx);
const mayCase = (analysis, n, ctx) =>
  !n.defresult ||
  nullable(analysis, n.defresult, ctx) ||
  n.args.some((w) => nullable(analysis, w.result, ctx));

const RULES = {
  VAR: mayVariable,
  CONST: (_analysis, n) => n.constisnull === "true",
  PARAM: ({ params }, n) => (n.paramkind === "0" ? params(Number(n.paramid)) : true),
  RELABELTYPE: asItsArgument,
  COERCEVIAIO: asItsArgument,
  ARRAYCOERCEEXPR: asItsArgument,
  COERCETODOMAIN: asItsArgument,
  COLLATEEXPR: asItsArgument,
  COALESCEEXPR: asAllArguments,
  MINMAXEXPR: asAllArguments,
  AGGREF: (_analysis, n) => !NEVER_NULL_AGG.has(Number(n.aggfnoid)),
  WINDOWFUNC: ({ catalog }, n) =>
    !["row_number", "rank", "dense_rank", "count", "ntile"].includes(catalog.fn(Number(n.winfnoid)).name),
  NULLTEST: never,
  BOOLEANTEST: never,
  DISTINCTEXPR: never,
  ARRAYEXPR: never,
  ARRAY: never,
  ROW: never,
  ROWEXPR: never,
  SQLVALUEFUNCTION: never,
  GROUPINGFUNC: never,
  JSONCONSTRUCTOREXPR: never,
  BOOLEXPR: asAnyArgument,
  OPEXPR(analysis, n, ctx) {
    const operator = analysis.catalog.op(Number(n.opno));
    return MAY_BE_NULL_OPS.test(operator) && /^[-#]>/.test(operator) ? true : any(analysis, n.args, ctx);
  },
  SCALARARRAYOPEXPR: asAnyArgument,
  CASEEXPR: mayCase,
  CASE: mayCase,
  SUBLINK(analysis, n, ctx) {
    if (n.subLinkType !== "4") return false;
    const q = n.subselect;
    const cols = columns(analysis, q, ctx);
    return !(q.hasAggs === "true" && !q.groupClause && !q.havingQual) || cols?.[0]?.nullable;
  },
  FUNCEXPR(analysis, n, ctx) {
    const f = analysis.catalog.fn(Number(n.funcid));
    if (n.funcformat === "1" || n.funcformat === "2") return any(analysis, n.args, ctx); // casts
    if (analysis.catalog.neverNull.has(f.name)) return f.strict ? any(analysis, n.args, ctx) : false;
    return true;
  },
};
