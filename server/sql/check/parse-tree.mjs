// Loose types: the tree is PostgreSQL's own.
// Reads PostgreSQL's own parse tree (debug_print_parse) of a statement: names, domain types, nullability.
/** nodeToString text -> objects. */
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

/** The columns that a statement returns, and which of them may be null. `params`: may the parameter of this number be null? */
export function analyze(query, catalog, params = () => true) {
  const cache = new Map();
  function columns(q, outer) {
    if (cache.has(q)) return cache.get(q);
    cache.set(q, null); // recursion of a recursive CTE
    const ctx = { q, outer, sure: surely(q) };
    let list = q.returningList ?? (q.commandType === "1" ? q.targetList : null) ?? [];
    list = list.filter((t) => t.resjunk !== "true");
    let cols = list.map((t) => ({ name: t.resname, nullable: nullable(t.expr, ctx) }));
    if (q.setOperations) {
      const leaves = [];
      const walk = (n) => {
        if (n._ === "RANGETBLREF") return leaves.push(q.rtable[n.rtindex - 1]);
        walk(n.larg);
        walk(n.rarg);
      };
      walk(q.setOperations);
      const parts = leaves.map((l) => columns(l.subquery, ctx)).filter(Boolean);
      cols = cols.map((c, k) => ({ ...c, nullable: parts.some((p) => p[k]?.nullable) }));
    }
    cache.set(q, cols);
    return cols;
  }
  /** Columns that the WHERE of a SELECT shows not to be null. */
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
  function nullable(n, ctx) {
    if (!n) return true;
    const all = (xs) => (xs ?? []).some((x) => nullable(x, ctx));
    switch (n._) {
      case "VAR": {
        const s = source(n, ctx);
        if (!s) return true;
        if (n.varnullingrels?.length) return true;
        if (n.varreturningtype !== "0" && s.c.q.commandType !== "2") return true;
        if (n.varlevelsup === "0" && ctx.sure.has(key(n))) return false;
        const { rte } = s;
        const at = Number(n.varattno);
        if (at === 0) return false;
        switch (rte.rtekind) {
          case "0":
            if (rte.relkind === "v") {
              const t = catalog.view(Number(rte.relid));
              return t ? (columns(t, null)?.[at - 1]?.nullable ?? true) : true;
            }
            return at > 0 ? !catalog.attr(Number(rte.relid), at).notNull : false;
          case "1":
            return columns(rte.subquery, s.c)?.[at - 1]?.nullable ?? true;
          case "2":
            return nullable(rte.joinaliasvars[at - 1], s.c);
          case "3": {
            const n = rte.functions.reduce((a, f) => a + Number(f.funccolcount), 0);
            return !(rte.funcordinality === "true" && at === n + 1);
          }
          case "5":
            return rte.values_lists.some((row) => nullable(row[at - 1], s.c));
          case "6": {
            const { cte, x } = cteOf(rte, s.c);
            const cols = columns(cte.ctequery, x);
            return cols ? (cols[at - 1]?.nullable ?? true) : false;
          }
          case "9":
            return nullable(rte.groupexprs[at - 1], s.c);
          default:
            return true;
        }
      }
      case "CONST":
        return n.constisnull === "true";
      case "PARAM":
        return n.paramkind === "0" ? params(Number(n.paramid)) : true;
      case "RELABELTYPE":
      case "COERCEVIAIO":
      case "ARRAYCOERCEEXPR":
      case "COERCETODOMAIN":
      case "COLLATEEXPR":
        return nullable(n.arg, ctx);
      case "COALESCEEXPR":
        return n.args.every((x) => nullable(x, ctx));
      case "MINMAXEXPR":
        return n.args.every((x) => nullable(x, ctx));
      case "AGGREF":
        return !NEVER_NULL_AGG.has(Number(n.aggfnoid));
      case "WINDOWFUNC":
        return !["row_number", "rank", "dense_rank", "count", "ntile"].includes(
          catalog.fn(Number(n.winfnoid)).name,
        );
      case "NULLTEST":
      case "BOOLEANTEST":
      case "DISTINCTEXPR":
      case "ARRAYEXPR":
      case "ARRAY":
      case "ROW":
      case "ROWEXPR":
      case "SQLVALUEFUNCTION":
      case "GROUPINGFUNC":
      case "JSONCONSTRUCTOREXPR":
        return false;
      case "BOOLEXPR":
        return all(n.args);
      case "OPEXPR":
        return MAY_BE_NULL_OPS.test(catalog.op(Number(n.opno))) && /^[-#]>/.test(catalog.op(Number(n.opno)))
          ? true
          : all(n.args);
      case "SCALARARRAYOPEXPR":
        return all(n.args);
      case "CASEEXPR":
      case "CASE":
        return !n.defresult || nullable(n.defresult, ctx) || n.args.some((w) => nullable(w.result, ctx));
      case "SUBLINK": {
        if (n.subLinkType === "0" || n.subLinkType === "6") return false;
        if (n.subLinkType === "4") {
          const q = n.subselect;
          const cols = columns(q, ctx);
          return !(q.hasAggs === "true" && !q.groupClause && !q.havingQual) || (cols?.[0]?.nullable ?? true);
        }
        return false;
      }
      case "FUNCEXPR": {
        const f = catalog.fn(Number(n.funcid));
        if (n.funcformat === "1" || n.funcformat === "2") return all(n.args); // casts
        if (catalog.neverNull.has(f.name)) return f.strict ? all(n.args) : false;
        return true;
      }
      default:
        return true;
    }
  }
  return { columns: columns(query, null) };
}
