import type { Credential } from "@/server/contract/credentials";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { log } from "@/server/platform/log/log";
import type { ProviderIo } from "@/server/providers/define";
import type { RequestRules } from "@/server/providers/request-rules";
import { jsonb, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/*
 * Request members that the servers of connections accept, learned by model. They are stored with the
 * connection; for the operator's own accounts each process keeps its own.
 */

export type RulesByModel = Readonly<Record<string, RequestRules>>;

const ofOperator = new Map<string, RequestRules>();

type Opened = {
  account: { credentialId: string } | string;
  baseUrl: string;
  requestRules: RulesByModel | undefined;
};

/** The known rules of an account's server for this model, and a function that stores more. */
export function learnedOf(
  { account, baseUrl, requestRules = {} }: Opened,
  model: string,
): Pick<ProviderIo, "rules" | "learn"> {
  if (typeof account === "object") {
    const rules = Object.hasOwn(requestRules, model) ? requestRules[model] : undefined;
    return {
      ...(rules ? { rules } : {}),
      learn: (found) => keep(account.credentialId, { baseUrl, model, found }),
    };
  }
  const name = `${baseUrl} ${model}`;
  const rules = ofOperator.get(name);
  return {
    ...(rules ? { rules } : {}),
    async learn(found) {
      ofOperator.set(name, { ...ofOperator.get(name), ...found });
    },
  };
}

const mergeRules = statement("credential.update.request_rules", {
  params: { credentialId: text, model: text, found: jsonb<Json>(), baseUrl: text },
  sql: `UPDATE credential
        SET request_rules = coalesce(request_rules, '{}') ||
          jsonb_build_object($model::text, coalesce(request_rules -> $model::text, '{}') || $found::jsonb)
        WHERE id = $credentialId AND base_url = $baseUrl AND NOT coalesce(request_rules -> $model::text @> $found::jsonb, false)`,
  prepared: true,
});

/**
 * Merges new rules into the stored ones, so that concurrent calls that learn different rules keep both. Rules
 * learned at another address than the connection's are dropped.
 */
async function keep(
  credentialId: string,
  { baseUrl, model, found }: { baseUrl: string; model: string; found: RequestRules },
): Promise<void> {
  try {
    await mergeRules.run(pool, { credentialId, model, found, baseUrl });
  } catch (err) {
    log.warn({ err, credentialId, model }, "what a server takes could not be stored");
  }
}

/** Rules of a connection's server, for the models that need other members than usual. */
export const shownRules = (rules: RulesByModel | null): Credential["requestRules"] =>
  Object.entries(rules ?? {})
    .map(([model, { outputLimit = "max_tokens", streamOptions = true }]) => ({
      model,
      outputLimit,
      streamOptions,
    }))
    .sort((one, other) => (one.model < other.model ? -1 : 1));
