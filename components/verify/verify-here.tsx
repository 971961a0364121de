"use client";
import { keepPreviousData, skipToken, useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useMemo, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import type { KeySet } from "@/server/verify";

type Checked = { verified: boolean; checks: { name: string; ok: boolean; detail: string }[] };

const Forge = dynamic(() => import("./forge"));

/** Verifies a sealed document's hash and signature in the browser as soon as it is shown, against the published keys. */
export function VerifyHere({
  what,
  document,
  canForge = false,
}: {
  /** The kind of document: "receipt". */
  what: string;
  document: unknown;
  /** Offers an editable copy. */
  canForge?: boolean;
}) {
  const text = useMemo(() => JSON.stringify(document, null, 2), [document]);
  const { data, error } = useVerified(what, text);
  const [isForging, setForging] = useState(false);
  return (
    <div className="space-y-3">
      <div role="status" className="flex items-start gap-3">
        <Seal state={error ? "unknown" : data === undefined ? "pending" : data.verified ? "good" : "bad"} />
        <div className="min-w-0 flex-1 text-sm">
          {error ? (
            <>
              <p className="font-semibold">Could not verify in this browser</p>
              <p className="text-muted">{error.message}</p>
            </>
          ) : data === undefined ? (
            <p className="text-muted">Verifying this {what} in your browser…</p>
          ) : (
            <>
              <p className={cn("font-semibold", data.verified ? "text-good" : "text-bad")}>
                This {what} is {data.verified ? "authentic" : "not authentic"}
              </p>
              <p className="text-xs text-muted">Verified in this browser in {data.ms} ms</p>
              <Checks checks={data.checks} />
            </>
          )}
        </div>
      </div>
      {canForge && data?.verified && !isForging && (
        <Button size="sm" onClick={() => setForging(true)}>
          Try to forge it
        </Button>
      )}
      {isForging && <Forge what={what} original={text} onClose={() => setForging(false)} />}
    </div>
  );
}

/** The result of the check of this text, with its duration. Undefined until it is known. */
export function useVerified(what: string, text: string | undefined) {
  return useQuery({
    queryKey: ["verified in this browser", what, text],
    queryFn: text === undefined ? skipToken : () => verifyHere(what, text),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY, // a document and its seal never change
    gcTime: 0,
    retry: false,
    meta: { isShownInPlace: true },
  });
}

const RINGS = {
  pending: "text-faint animate-spin motion-reduce:animate-none",
  good: "text-good",
  bad: "text-bad",
  unknown: "text-warn",
};

/** A ring that turns while the document is checked, closes if it is authentic, and breaks open if it is not. */
function Seal({ state }: { state: keyof typeof RINGS }) {
  return (
    <svg
      aria-hidden
      viewBox="0 0 44 44"
      fill="none"
      stroke="currentColor"
      className={cn("size-11 shrink-0", RINGS[state])}
    >
      <circle
        cx="22"
        cy="22"
        r="20"
        strokeWidth="1.5"
        strokeDasharray={state === "bad" ? "100 26" : undefined}
      />
      <circle
        cx="22"
        cy="22"
        r="15.5"
        strokeWidth="2.5"
        strokeDasharray={state === "good" ? undefined : "6 4"}
      />
      {state === "good" && <path d="m15.5 22.5 4.5 4.5 8.5-9.5" strokeWidth="2.5" strokeLinecap="round" />}
      {state === "bad" && <path d="m17 17 10 10m0-10-10 10" strokeWidth="2.5" strokeLinecap="round" />}
    </svg>
  );
}

/** The meaning of each check when it passed, and when it failed. */
const WORDS: Record<string, [string, string]> = {
  form: ["The document is complete", "The document is not complete"],
  hash_matches: ["Nothing in it was changed", "Its content was changed"],
  key_known: ["The key is one of this installation", "The key is not one of this installation"],
  signature_valid: ["The signature is valid", "The signature does not match"],
  output_matches: ["The output matches its hash", "The output was changed"],
  native_response_matches: ["The native response matches its hash", "The native response was changed"],
  corrections_signed: ["Corrections are signed", "A correction is not signed"],
};

/** Each check with its result in words. */
export function Checks({ checks }: { checks: Checked["checks"] }) {
  return (
    <ul className="mt-1 space-y-0.5 text-xs">
      {checks.map(({ name, ok, detail }) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className={cn("font-medium", !ok && "text-bad")}>
            {WORDS[name]?.[ok ? 0 : 1] ?? (ok ? "Valid" : "Invalid")}:
          </span>{" "}
          <span className="text-muted">{detail}</span>
        </li>
      ))}
    </ul>
  );
}

/** Checks a document against the published keys. Throws if the keys cannot be read, or this browser cannot verify. */
async function verifyHere(what: string, text: string): Promise<Checked & { ms: number }> {
  const { verifyText } = await import("@/server/verify");
  const answer = await fetch("/.well-known/jwks.json", { cache: "no-store" });
  if (!answer.ok) throw new Error(`Could not read the published keys (HTTP ${answer.status}).`);
  const keys: KeySet = await answer.json(); // the response is our own document, and the verifier does not trust it
  const from = performance.now();
  try {
    const found = await verifyText(text, keys);
    return { ...found, ms: Math.ceil(performance.now() - from) };
  } catch {
    // No Web Crypto (a page without https), or no Ed25519 support.
    throw new Error(
      `This browser cannot verify Ed25519 signatures. Save the JSON and run: npm run verify -- ${what.replaceAll(" ", "-")}.json`,
    );
  }
}
