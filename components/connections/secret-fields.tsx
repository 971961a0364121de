"use client";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import type { ConnectableProvider } from "@/server/contract/credentials";

/** The credential fields of a provider, from its schema. The values are never kept in page state. */
export function SecretFields({ provider }: { provider: ConnectableProvider }) {
  return provider.fields.map(({ name, description, required }) => (
    <div key={name} className="space-y-1.5">
      <Label htmlFor={`secret-${name}`}>{labelOf(name)}</Label>
      <Input
        id={`secret-${name}`}
        name={`secret.${name}`}
        type="password"
        required={required}
        maxLength={4096}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={description ? `secret-${name}-help` : undefined}
      />
      {description && (
        <p id={`secret-${name}-help`} className="text-xs text-muted">
          {description}
        </p>
      )}
    </div>
  ));
}

const NAMES: Record<string, string> = {
  apiKey: "API key",
  apikey: "API key",
  secretapikey: "Secret API key",
  apiToken: "API token",
};
const labelOf = (name: string) => NAMES[name] ?? name;

/** The typed values as the single string that the API takes. */
export function readSecret(provider: ConnectableProvider, fields: FormData): string {
  const values = provider.fields.flatMap(({ name }) => {
    const value = String(fields.get(`secret.${name}`) ?? "").trim();
    return value === "" ? [] : [[name, value]];
  });
  return JSON.stringify(Object.fromEntries(values));
}
