import { z } from "zod";
import type { ProviderIo } from "../define";
import type { Explanation } from "../http";

const Problem = z.object({ error: z.object({ code: z.string() }) });

const REASONS: Record<string, string> = {
  unsupported_schema: "The sandbox cannot make JSON for this schema.",
  invalid_request: "The sandbox does not understand the request.",
  model_not_found: "The sandbox has no such model.",
  unreadable_picture: "The sandbox cannot read one of the pictures.",
  too_large: "The request is too large for the sandbox.",
  weights_unavailable: "The sandbox found no LoRA weights at one of their addresses.",
  refused: "This sandbox model rejects every request.",
  busy: "The sandbox has no capacity right now.",
  tier_unavailable: "This sandbox model does not support this tier.",
  failed: "This sandbox model fails every request.",
};

/** Our texts for the sandbox's errors. */
export function explainSandboxError({ body }: { body: unknown }): Explanation | undefined {
  const problem = Problem.safeParse(body);
  const message = problem.success ? REASONS[problem.data.error.code] : undefined;
  return message ? { message } : undefined;
}

/** The header of every request, by which the sandbox's log counts. */
export const sandboxHeaders = (io: Pick<ProviderIo, "attemptId">) => ({ "x-attempt-id": io.attemptId });

/** Maximum size of an answer with files in base64. */
export const MAX_FILES_BYTES = 192 * 1024 * 1024;

/** Misbehaving models, which every port has under the same name; they are used only if requested by name. */
export const BEHAVIOURS = ["slow", "refuse", "busy", "lost", "empty", "fail"] as const;

/** Two models that work, then one for each misbehavior. */
export const SANDBOX_MODELS: { id: string; title: string; onlyByName?: true }[] = [
  { id: "sandbox-1", title: "Sandbox 1" },
  { id: "sandbox-2", title: "Sandbox 2" },
  ...BEHAVIOURS.map((behaviour) => ({
    id: `sandbox-${behaviour}`,
    title: `Sandbox ${behaviour}`,
    onlyByName: true as const,
  })),
];
