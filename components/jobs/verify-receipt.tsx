"use client";
import { useMutation } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import type { Receipt } from "@/server/contract/receipts";
import { type KeySet, type Verification, verifyReceipt } from "@/server/verify";

/** Checks the receipt's hash and signature here in the browser, against the published keys. */
export function VerifyReceipt({ receipt }: { receipt: Receipt }) {
  const verify = useMutation({ mutationFn: () => verifyHere(receipt) });
  return (
    <div className="space-y-3">
      <Button size="sm" pending={verify.isPending} onClick={() => verify.mutate()}>
        <ShieldCheck aria-hidden />
        Verify
      </Button>
      <div role="status">
        {verify.data && <Result verification={verify.data} />}
        {verify.error && (
          <Notice tone="warn" title="It could not be checked here">
            <p>{verify.error.message}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

function Result({ verification: { verified, checks } }: { verification: Verification }) {
  return (
    <Notice
      tone={verified ? "good" : "bad"}
      title={verified ? "This receipt is what was sealed" : "This receipt is not what was sealed"}
    >
      <ul className="mt-1 space-y-0.5 text-xs">
        {checks.map(({ name, ok, detail }) => (
          <li key={name}>
            <span className="font-medium">{ok ? "Holds" : "False"}:</span> {detail}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

async function verifyHere(receipt: Receipt): Promise<Verification> {
  const answer = await fetch("/.well-known/jwks.json", { cache: "no-store" });
  if (!answer.ok) throw new Error(`The published keys could not be read: ${answer.status}.`);
  const keys: KeySet = await answer.json(); // our own document; the verifier trusts none of it
  try {
    return await verifyReceipt(receipt, keys);
  } catch {
    // No Web Crypto (a page that is not https), or one that does not know Ed25519.
    throw new Error(
      "This browser cannot check Ed25519 signatures. Save the JSON and run: npm run verify -- receipt.json",
    );
  }
}
