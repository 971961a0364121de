"use client";
import { ShieldCheck } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { KeySet } from "@/server/verify";

type Checked = { verified: boolean; checks: { name: string; ok: boolean; detail: string }[] };

/** Checks a sealed document's hash and signature here in the browser, against the published keys. */
export function VerifyHere({
  what,
  verify,
}: {
  /** What was sealed: "receipt". */
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
            title={
              checking.data.verified
                ? `This ${what} is what was sealed`
                : `This ${what} is not what was sealed`
            }
          >
            <Checks checks={checking.data.checks} />
          </Notice>
        )}
        {checking.error && (
          <Notice tone="warn" title="It could not be checked here">
            <p>{checking.error.message}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

/** What was checked, and how each came out, in words. */
export function Checks({ checks }: { checks: Checked["checks"] }) {
  return (
    <ul className="mt-1 space-y-0.5 text-xs">
      {checks.map(({ name, ok, detail }) => (
        <li key={name}>
          <span className="font-medium">{ok ? "Holds" : "False"}:</span> {detail}
        </li>
      ))}
    </ul>
  );
}

async function verifyHere(what: string, verify: (keys: KeySet) => Promise<Checked>): Promise<Checked> {
  const answer = await fetch("/.well-known/jwks.json", { cache: "no-store" });
  if (!answer.ok) throw new Error(`The published keys could not be read: ${answer.status}.`);
  const keys: KeySet = await answer.json(); // our own document; the verifier trusts none of it
  try {
    return await verify(keys);
  } catch {
    // No Web Crypto (a page that is not https), or one that does not know Ed25519.
    throw new Error(
      `This browser cannot check Ed25519 signatures. Save the JSON and run: npm run verify -- ${what.replaceAll(" ", "-")}.json`,
    );
  }
}
