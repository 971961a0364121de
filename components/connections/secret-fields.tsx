"use client";
import { TextField } from "@/components/blocks/form/fields";
import type { FormValues } from "@/components/blocks/form/form-values";
import type { ConnectableProvider } from "@/server/contract/credentials";

/** The credential fields of a provider, from its schema. The values are never kept in page state. */
export function SecretFields({ provider }: { provider: ConnectableProvider }) {
  return provider.fields.map(({ name, description, required }) => (
    <TextField
      key={name}
      name={`secret.${name}`}
      label={NAMES[name] ?? name}
      hint={description}
      type="password"
      required={required}
      maxLength={4096}
      spellCheck={false}
    />
  ));
}

const NAMES: Record<string, string> = {
  apiKey: "API key",
  apikey: "API key",
  secretapikey: "Secret API key",
  apiToken: "API token",
};

/** The typed values as the single string that the API takes. */
export function readSecretFields(provider: ConnectableProvider, sent: FormValues): string {
  const values = provider.fields.flatMap(({ name }) => {
    const value = sent.text(`secret.${name}`);
    return value === "" ? [] : [[name, value]];
  });
  return JSON.stringify(Object.fromEntries(values));
}
