import { appendFileSync } from "node:fs";
import pg from "pg";

/* Preloaded with `node --import`: writes each distinct SQL text that the program sends to PostgreSQL to a file. */
const file = process.env.STATEMENTS_TO;
const seen = new Set();
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function record(first, ...rest) {
  const text = typeof first === "string" ? first : first?.text;
  if (file && typeof text === "string" && !seen.has(text)) {
    seen.add(text);
    appendFileSync(file, `${JSON.stringify(text)}\n`);
  }
  return query.call(this, first, ...rest);
};
