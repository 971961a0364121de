import type pg from "pg";

/**
 * Copies a migrated database. A copy lacks the settings that the migrations made for the role in their database, so its
 * time zone is set here.
 */
export async function copyDatabase(maker: pg.Client, name: string, template: string): Promise<void> {
  await maker.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  await maker.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET TimeZone = 'UTC'`);
}
