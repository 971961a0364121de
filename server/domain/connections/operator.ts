import { env } from "@/server/platform/settings/env";
import type { Provider } from "@/server/providers/provider";

type Credentials = { values: string[]; credentials: Readonly<Record<string, string>> | null };
/** What was found last, by provider: asked for on every submission, and nearly always the same. */
const lastFound = new WeakMap<Provider, Credentials>();

/** The operator's credentials for a provider from the environment; null where a needed one is missing. */
export function operatorCredentials(provider: Provider): Readonly<Record<string, string>> | null {
  const settings: Record<string, unknown> = env;
  const fields = Object.entries(provider.environment.credentials);
  const values = fields.map(([, name]) => {
    const value = settings[name];
    return typeof value === "string" ? value : "";
  });
  const last = lastFound.get(provider);
  if (last?.values.every((value, position) => value === values[position])) return last.credentials;
  const found = Object.fromEntries(
    fields.map(([field], position) => [field, values[position] ?? ""]).filter(([, value]) => value !== ""),
  );
  const credentials = provider.credentials.safeParse(found).success ? found : null;
  lastFound.set(provider, { values, credentials });
  return credentials;
}

/** Where this deployment reaches a provider; null: nowhere, until somebody names an address. */
export function baseUrlOf(provider: Provider): string | null {
  const settings: Record<string, unknown> = env;
  const configured = settings[provider.environment.baseUrl];
  return (typeof configured === "string" ? configured : provider.defaultBaseUrl)?.replace(/\/+$/, "") ?? null;
}

/** Whether the operator chose this address of a provider, and no caller. */
export const isOperatorsAddress = (provider: Provider, baseUrl: string) => baseUrl === baseUrlOf(provider);
