import { spawnSync } from "node:child_process";
import { PRODUCTION, WRONG_SETTINGS } from "@/testing/wrong-settings";
import { aligned } from "../launch/table";

/*
 * `npm run prove:settings` starts the built web process with each wrong setting, one after the other. Each must be refused with
 * exit code 2 and a sentence that names the setting. Prints each refusal's time, and the output of those that were not refused;
 * exits 1 if there is one.
 */

/** Only a start finds these, because their checks need the product's own lists (plans, models, settings) or the database. */
const FOUND_BY_A_START: typeof WRONG_SETTINGS = [
  [{ PLANS: "[" }, "PLANS: is not valid JSON"],
  [{ PLANS: '[{"slug":"pro"}]' }, "PLANS 0."],
  [{ DEFAULT_PLAN: "gold" }, "DEFAULT_PLAN: is not the slug of a plan"],
  [{ OPENAI_COMPATIBLE_MODELS: "llama" }, 'OPENAI_COMPATIBLE_MODELS: "llama" is not of the form'],
  [{ OPENAI_COMPATIBLE_MODELS: "vl:1:2:pictures=0" }, '"vl:1:2:pictures=0" is not of the form'],
  [{ ANTHROPIC_API_KYE: "key" }, "did you mean ANTHROPIC_API_KEY?"],
  [{ DATABASE_URL: "" }, "DATABASE_URL is not set"],
  [
    { DATABASE_URL: "postgresql://capstan@127.0.0.1:1/capstan" },
    "DATABASE_URL: the database does not respond",
  ],
];

const rows = [...WRONG_SETTINGS, ...FOUND_BY_A_START].map(([changes, sentence]) => {
  const beganAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["scripts/start.mjs", "web"], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...PRODUCTION, ...changes },
    encoding: "utf8",
    timeout: 60_000,
  });
  const took = performance.now() - beganAt;
  const isRefused = status === 2 && stderr.includes(sentence) && !/^ {4}at /m.test(stderr);
  return { shown: JSON.stringify(changes), took, isRefused, said: stderr.trim() };
});

console.log(
  aligned([
    ["setting", "seconds", "refused"],
    ...rows.map(({ shown, took, isRefused }) => [shown, (took / 1000).toFixed(2), isRefused ? "yes" : "no"]),
  ]).join("\n"),
);
for (const { shown, said } of rows.filter(({ isRefused }) => !isRefused)) console.log(`\n${shown}:\n${said}`);
const times = rows.map(({ took }) => took).sort((a, b) => a - b);
console.log(
  `\n${rows.length} starts; median ${(times[times.length >> 1]! / 1000).toFixed(2)} s, longest ${(times.at(-1)! / 1000).toFixed(2)} s`,
);
process.exitCode = rows.every(({ isRefused }) => isRefused) ? 0 : 1;
