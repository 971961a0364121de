import type { Capability } from "@/server/capabilities/define";
import type { RunHint } from "@/server/contract/capabilities";
import { commandOf } from "@/server/contract/cli";
import { JsonObject } from "@/server/contract/common";
import { clientCodeOf } from "@/server/contract/snippets";
import { publicUrl } from "@/server/platform/settings/env";
import { requiredInputs } from "./schema";

/** Returns the ways to run a capability, with its first example as input. */
export function runHintOf(capability: Capability): RunHint {
  const isJob = !capability.modes.includes("invoke_sync");
  const path = `/v1/capabilities/${capability.key}/${isJob ? "jobs" : "invoke"}`;
  const exampleInput = JsonObject.parse(capability.examples[0]?.input ?? {});
  const body = { input: exampleInput };
  const file = "input.json";
  return {
    cli: commandOf(capability.key, exampleInput, publicUrl),
    sdk: clientCodeOf(capability.key, exampleInput, publicUrl),
    mcp: {
      tool: isJob ? "submit_job" : "invoke",
      arguments: { capability_key: capability.key, request: body },
    },
    http: { method: "POST", path, body },
    requiredInputFields: requiredInputs(capability).map((pointer) => pointer.replace("/input/", "")),
    exampleInput,
    inputFile: {
      path: file,
      content: exampleInput,
      cli: commandOf(capability.key, file, publicUrl),
    },
  };
}
