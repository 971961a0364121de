import { domainToASCII } from "node:url";
import { z } from "zod";

/** Longer than any name in Unicode spelling; longer input is not parsed. */
const MOST_NAME_CHARACTERS = 1000;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** A domain name in lower case, with other scripts as `xn--`. Null if it is not a domain name. */
export function toDomain(name: string): string | null {
  if (name.length > MOST_NAME_CHARACTERS) return null;
  const ascii = domainToASCII(name.trim().replace(/\.$/, "")).toLowerCase();
  const labels = ascii.split(".");
  const isName = labels.length >= 2 && ascii.length <= 253 && labels.every((label) => LABEL.test(label));
  return isName && !/^\d+$/.test(labels.at(-1) ?? "") ? ascii : null;
}

/** A top-level domain, accepted with or without its dot. Null if it is not one. */
export function toTld(name: string): string | null {
  if (name.length > MOST_NAME_CHARACTERS) return null;
  return toDomain(`a.${name.trim().replace(/^\./, "")}`)?.slice(2) ?? null;
}

export const CredentialSource = z
  .enum(["platform", "customer"])
  .optional()
  .describe("Whose registrar account to use. Default platform.");

/**
 * Removes null fields, because the output omits unknown values. The cast is safe: the remaining values are not null.
 */
export const known = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: Exclude<T[K], null>;
  };
export const toUsd = (micros: number | null): number | null => (micros === null ? null : micros / 1_000_000);
export const Usd = z.number().nullable().describe("In US dollars. Null if the registrar does not say.");

/** Facts that all domain capabilities share. */
export const DOMAIN = {
  modality: "infrastructure" as const,
  family: "domain",
  category: "infrastructure",
  modes: ["invoke_sync" as const],
  inputConstraints: {},
  features: {
    syncInvoke: { supported: true, targetMaxDurationSeconds: 60 },
    purchaseRequiresHumanApproval: true,
    providerBacked: true,
    modelBacked: false,
    deterministic: false,
    executionClass: "provider",
  },
  inputMediaTypes: ["application/json"],
  outputKind: "structured" as const,
  outputMediaType: "application/json",
  trialEligible: false,
  sync: { seconds: 60 },
};
