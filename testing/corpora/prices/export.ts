import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { priceList } from "./prices";

/* Writes the prices as data for `cases.py` (`npm run prices`). */

const path = join(import.meta.dirname, "fixtures", "prices.json");
writeFileSync(path, `${JSON.stringify(priceList(), null, 2)}\n`);
console.log(`Wrote ${path}`);
