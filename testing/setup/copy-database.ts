import type pg from "pg";

/** Makes a copy of a migrated database. What the migrations have set for the role in theirs, its time zone, is no part of a copy. */
export async function copyDatabase(maker: pg.Client, name: string, template: string): Promise<void> {
  await maker.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await maker.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET TimeZone = 'UTC'`);
}
