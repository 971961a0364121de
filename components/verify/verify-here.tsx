"use client";
import { ShieldCheck } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { KeySet } from "@/server/verify";

type Checked = { verified: boolean; checks: { name: string; ok: boolean; detail: string }[] };

/** Verifies a sealed document's hash and signature in the browser, against the published keys. */
export function VerifyHere({
  what,
  verify,
}: {
  /** The kind of document: "receipt". */
  what: string;
  verify(keys: KeySet): Promise<Checked>;
}) {
  const checking = useMutation({ mutationFn: () => verifyHere(what, verify) });
  return (
    <div className="space-y-3">
      <Button size="sm" pending={checking.isPending} onClick={() => checking.mutate()}>
        <ShieldCheck aria-hidden />
        Verify
      </Button>
      <div role="status">
        {checking.data && (
          <Notice
            tone={checking.data.verified ? "good" : "bad"}
            title={checking.data.verified ? `This ${what} is authentic` : `This ${what} is not authentic`}
          >
            <Checks checks={checking.data.checks} />
          </Notice>
        )}
        {checking.error && (
          <Notice tone="warn" title="Could not verify in this browser">
            <p>{checking.error.message}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

/** Each check with its result in words. */
export function Checks({ checks }: { checks: Checked["checks"] }) {
  return (
    <ul className="mt-1 space-y-0.5 text-xs">
      {checks.map(({ name, ok, detail }) => (
        <li key={name}>
          <span className="font-medium">{ok ? "Valid" : "Invalid"}:</span> {detail}
        </li>
      ))}
    </ul>
  );
}

async function verifyHere(what: string, verify: (keys: KeySet) => Promise<Checked>): Promise<Checked> {
  const answer = await fetch("/.well-known/jwks.json", { cache: "no-store" });
  if (!answer.ok) throw new Error(`Could not read the published keys (HTTP ${answer.status}).`);
  const keys: KeySet = await answer.json(); // our own document; the verifier trusts none of it
  try {
    return await verify(keys);
  } catch {
    // No Web Crypto (a page without https), or no Ed25519 support.
    throw new Error(
      `This browser cannot verify Ed25519 signatures. Save the JSON and run: npm run verify -- ${what.replaceAll(" ", "-")}.json`,
    );
  }
}
