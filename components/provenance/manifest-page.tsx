"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Server, ShieldCheck } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { Capped } from "@/components/blocks/list/capped";
import { dollars } from "@/components/blocks/money/money";
import { sentencesOf, useTRPC, useTRPCClient } from "@/components/data/trpc";
import { manifestsHref } from "@/components/pins/list-state";
import { SUBMISSION_WORDS } from "@/components/pins/pin-status";
import { pinWords } from "@/components/pins/words";
import { PageHeader } from "@/components/shell/page-header";
import { Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { CopyableId, shortId } from "@/components/ui/copyable-id";
import { DownloadJson } from "@/components/ui/download";
import { Fact, FactGroup, Facts, HashFact } from "@/components/ui/facts";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { VerifyHere } from "@/components/verify/verify-here";
import type { Manifest, ManifestVerification } from "@/server/contract/provenance";

/** One manifest: its receipts, its seal, and both ways to verify it. */
export function ManifestPage({ projectId, manifestId }: { projectId: string; manifestId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data: manifest } = useSuspenseQuery(
    trpc.provenance.manifest.queryOptions({ manifest_id: manifestId }, { staleTime: Infinity }),
  );
  return (
    <>
      <PageHeader
        back={{ href: manifestsHref(projectId), label: "Provenance" }}
        title={manifest.label}
        id={<CopyableId id={manifestId} what="manifest id" className="text-muted" />}
        actions={
          <DownloadJson
            name={`${manifestId}.json`}
            read={() => client.provenance.manifest.query({ manifest_id: manifestId })}
          >
            Manifest
          </DownloadJson>
        }
      />
      <div className="grid grid-cols-1 gap-5">
        <SealCard manifest={manifest} />
        <VerifyThere manifestId={manifestId} />
        <Receipts manifest={manifest} projectId={projectId} />
      </div>
    </>
  );
}

function SealCard({ manifest }: { manifest: Manifest }) {
  return (
    <Section
      icon={<ShieldCheck aria-hidden className="size-4 text-good" />}
      title="Seal"
      bodyClassName="space-y-5"
    >
      <Facts>
        <Fact name="Sealed">
          <Moment at={manifest.createdAt} />
        </Fact>
        <HashFact name="Manifest hash" hash={manifest.manifestHash} />
        <HashFact name="Signed by" hash={manifest.signature.keyId} />
        <HashFact name="Signature" hash={manifest.signature.value} />
        <HashFact name="Experiment hash" hash={manifest.experimentHash} />
      </Facts>
      <VerifyHere what="manifest" document={manifest} />
    </Section>
  );
}

/** The server's check, which has the receipts: whether all are present and valid, and their totals. */
function VerifyThere({ manifestId }: { manifestId: string }) {
  const trpc = useTRPC();
  const verify = useAction(trpc.provenance.verifyManifest.mutationOptions(), { isInPlace: true });
  return (
    <Section
      title="Stored receipts"
      actions={
        <Button
          size="sm"
          pending={verify.isPending}
          onClick={() => verify.mutate({ manifest_id: manifestId })}
        >
          <Server aria-hidden />
          Verify on server
        </Button>
      }
    >
      <div role="status">
        {verify.data ? (
          <ServerVerdict result={verify.data} />
        ) : (
          <p className="text-sm text-muted">
            Checks every receipt of the manifest on the server: hash, signature, pin and cost.
          </p>
        )}
      </div>
      {verify.error && (
        <Notice tone="warn" title="Could not verify the manifest">
          {sentencesOf(verify.error)}
        </Notice>
      )}
    </Section>
  );
}

function ServerVerdict({ result }: { result: ManifestVerification }) {
  return (
    <div className="space-y-4">
      <Notice
        tone={result.verified ? "good" : "bad"}
        title={result.verified ? "Manifest verified" : "Manifest not verified"}
      >
        {result.verified
          ? "The manifest and all its receipts are present and unchanged."
          : "See the details below."}
      </Notice>
      <FactGroup title="Results">
        <Fact name="Receipts found">
          {result.receiptsFound} of {result.receiptsExpected}
        </Fact>
        <Fact name="Matching pins">{result.pinsMatching}</Fact>
        <Fact name="Manifest hash">{result.manifestHashMatches ? "matches" : "does not match"}</Fact>
        <Fact name="Signature">{result.signatureValid ? "valid" : "not valid"}</Fact>
        <Fact name="Request hash drift">
          <Ids ids={result.requestHashDrift} />
        </Fact>
        <Fact name="Invalid receipts">
          <Ids ids={result.receiptsInvalid} />
        </Fact>
        <Fact name="Fallbacks">{result.fallbacks}</Fact>
        <Fact name="Provider retries">{result.providerRetries}</Fact>
        <Fact name="Provider spend">{dollars(result.providerSpend.amountMicros)}</Fact>
        <Fact name="Cost unknown">
          {result.costUnknown === 0 ? "none" : `${result.costUnknown}, not included in the spend`}
        </Fact>
      </FactGroup>
    </div>
  );
}

const MOST_NAMED = 20;

function Ids({ ids }: { ids: string[] }) {
  if (ids.length === 0) return "none";
  return (
    <ul>
      {ids.slice(0, MOST_NAMED).map((id) => (
        <li key={id}>
          <CopyableId id={id} what="receipt id" className="text-bad" />
        </li>
      ))}
      {ids.length > MOST_NAMED && <li>and {ids.length - MOST_NAMED} more</li>}
    </ul>
  );
}

function Receipts({ manifest: { receipts }, projectId }: { manifest: Manifest; projectId: string }) {
  return (
    <Section title="Receipts" hint={receipts.length.toLocaleString("en-US")} isFlush>
      <Capped rows={receipts}>
        {(rows) => (
          <ul aria-label="Manifest receipts" className="divide-y divide-line">
            {rows.map((receipt) => (
              <li key={receipt.receiptId} className="relative px-4 py-2.5 hover:bg-hover/60">
                <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
                  <ReceiptName receipt={receipt} projectId={projectId} />
                  <span className="text-xs text-muted">
                    {SUBMISSION_WORDS[receipt.providerSubmission]} · <Moment at={receipt.completedAt} />
                  </span>
                </div>
                <code className="block text-xs text-muted" title={receipt.requestHash}>
                  {shortId(receipt.requestHash)}
                </code>
              </li>
            ))}
          </ul>
        )}
      </Capped>
    </Section>
  );
}

/** A receipt belongs to a pinned record or a job; its URL leads to either. */
function ReceiptName({ receipt, projectId }: { receipt: Manifest["receipts"][number]; projectId: string }) {
  const { receiptId, pin } = receipt;
  return (
    <span className="min-w-0 text-sm">
      <Link
        href={`/projects/${projectId}/receipts/${receiptId}`}
        title={receiptId}
        className="rounded font-mono text-xs text-link after:absolute after:inset-0 hover:underline"
      >
        {shortId(receiptId)}
      </Link>{" "}
      {pin ? pinWords(pin) : "ran locally, without a provider"}
    </span>
  );
}
