import pg from "pg";
import { describer, openCatalog } from "./catalog.mjs";
import { analyze } from "./parse-tree.mjs";
import { reachOf, readTenantTables } from "./tenants.mjs";

/**
 * Gives `work` a parser of statements over the database's catalog. Nothing that `work` changes is committed.
 */
async function withParser(connectionString, first, work) {
  const client = new pg.Client({ connectionString, options: "-c capstan.project_id=*" });
  await client.connect();
  try {
    await client.query(`BEGIN; ${first}`);
    const catalog = await openCatalog(client);
    const tenantTables = await readTenantTables(client);
    await client.query(
      "SET LOCAL client_min_messages = log; SET LOCAL debug_print_parse = on; SET LOCAL debug_pretty_print = off; SAVEPOINT ready",
    );
    const parse = describer(client);
    await catalog.loadViews(parse);
    return await work({ client, catalog, tenantTables, parse });
  } finally {
    await client.end();
  }
}

/**
 * How each statement reaches rows of tenants (`reachOf`), with its name. A statement that cannot be parsed is
 * left out; `checkStatements` reports it.
 */
export const readReach = (connectionString, statements) =>
  withParser(connectionString, "SELECT", async ({ client, catalog, tenantTables, parse }) => {
    const found = [];
    for (const { name, text } of statements)
      try {
        found.push({ name, ...reachOf((await parse(text)).tree, catalog, tenantTables) });
      } catch {
        await client.query("ROLLBACK TO SAVEPOINT ready");
      }
    return found;
  });

/**
 * Checks every statement against a migrated database, and returns the mismatches with the names of statement
 * and column. The statements are parsed and not run; `first`, SQL that runs before, is rolled back.
 */
export const checkStatements = (connectionString, statements, first = "SELECT") =>
  withParser(connectionString, first, async ({ client, catalog, parse }) => {
    const problems = [];
    const names = new Set();
    for (const one of statements) {
      if (names.has(one.name)) problems.push(`${one.name}: another statement has this name`);
      names.add(one.name);
      try {
        const seen = await parse(one.text);
        problems.push(...differences(one, seen, catalog).map((what) => `${one.name}: ${what}`));
      } catch (error) {
        problems.push(`${one.name}: ${error.message}`);
        await client.query("ROLLBACK TO SAVEPOINT ready");
      }
    }
    return problems;
  });

/**
 * The differences between a statement and its declaration. A statement that takes its rows as JSON has only column names and
 * types to check.
 */
function differences({ params, row, isMany }, seen, catalog) {
  const found = [];
  const declared = Object.entries(params);
  if (!isMany)
    for (const [at, oid] of seen.params.entries()) {
      const [key, of] = declared[at];
      if (catalog.type(oid) !== of.type)
        found.push(`parameter ${key} is ${catalog.type(oid)}, declared ${of.type}`);
    }
  const { columns } = analyze(seen.tree, catalog, (at) => isMany || declared[at - 1]?.[1].nullable !== false);
  const returned = new Map(
    columns.map(({ name, nullable }, at) => [
      name,
      { nullable, type: catalog.type(seen.fields[at].dataTypeID) },
    ]),
  );
  for (const [key, of] of Object.entries(row)) {
    const has = returned.get(key);
    if (!has) found.push(`column ${key} is declared and not returned`);
    else {
      if (has.type !== of.type) found.push(`column ${key} is ${has.type}, declared ${of.type}`);
      if (has.nullable && !of.nullable && !of.why && !isMany) found.push(`column ${key} may be null`);
      if (!has.nullable && of.nullable && !isMany)
        found.push(`column ${key} is never null, declared nullable`);
    }
  }
  for (const key of returned.keys())
    if (!(key in row)) found.push(`column ${key} is returned and not declared`);
  return found;
}
