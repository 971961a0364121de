import { commandOf } from "../../../../server/contract/cli";
import { shortestMode } from "../run";
import { type Common, clientOf } from "./settings";
import { type Terminal, table } from "./terminal";

export async function printCapabilities(
  terminal: Terminal,
  options: Common & { query?: string },
): Promise<void> {
  const query = { view: "summary" as const, ...(options.query ? { q: options.query } : {}) };
  const found = await clientOf(options, true).get("/v1/capabilities", { params: { query } });
  const rows = found.capabilities.map(({ key, title, executionModes }) => [
    key,
    executionModes.join(","),
    title,
  ]);
  terminal.answer(found, rows.length === 0 ? "None." : table(rows));
}

/** Finds capabilities for a need that is described in plain words. */
export async function findCapability(terminal: Terminal, options: Common, words: string[]): Promise<void> {
  const client = clientOf(options, true);
  const found = await client.post("/v1/capabilities/resolve", {
    body: { intent: words.join(" "), requirements: {} },
  });
  const rows = found.matches.map(({ capabilityKey, confidence, runHint }) => [
    capabilityKey,
    `${Math.round(confidence * 100)}%`,
    commandOf(capabilityKey, runHint?.exampleInput ?? {}),
  ]);
  terminal.answer(
    found,
    rows.length === 0
      ? "No capability matches. Describe the outcome in other words, or file a capability request."
      : table(rows),
  );
}

export async function printCapability(terminal: Terminal, options: Common, key: string): Promise<void> {
  const path = { capability_key: key };
  const found = await clientOf(options, true).get("/v1/capabilities/{capability_key}", { params: { path } });
  const { title, description, inputSchema, examples, readySummary } = found;
  terminal.answer(
    found,
    [
      `${found.key}  ${title}`,
      description,
      `runs as ${shortestMode(found)}; ${readySummary}`,
      "",
      "input:",
      JSON.stringify(inputSchema, null, 2),
      "",
      "example:",
      JSON.stringify(examples[0] ?? {}, null, 2),
    ].join("\n"),
  );
}
