import { env } from "@/server/platform/settings/env";
import type { Provider } from "@/server/providers/provider";

type Credentials = { values: string[]; credentials: Readonly<Record<string, string>> | null };
/** Last result by provider: every submission asks, and the settings rarely change. */
const lastFound = new WeakMap<Provider, Credentials>();

/** The operator's credentials for a provider from the environment; null if a required one is missing. */
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

/** The address of a provider in this deployment; null if neither the settings nor the provider has one. */
export function baseUrlOf(provider: Provider): string | null {
  const settings: Record<string, unknown> = env;
  const configured = settings[provider.environment.baseUrl];
  return (typeof configured === "string" ? configured : provider.defaultBaseUrl)?.replace(/\/+$/, "") ?? null;
}

/** True if the operator chose this address of a provider, and not a caller. */
export const isOperatorsAddress = (provider: Provider, baseUrl: string) => baseUrl === baseUrlOf(provider);
