import { ShieldCheck } from "lucide-react";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { FactGroup, HashFact } from "@/components/ui/facts";
import { VerifyHere } from "@/components/verify/verify-here";
import type { PinnedRecord } from "@/server/contract/pinned-records";

/** A record's hashes and signature, with verification of both in the browser. */
export function PinProof({ record }: { record: PinnedRecord }) {
  return (
    <Section
      icon={<ShieldCheck aria-hidden className="size-4 text-good" />}
      title="Proof"
      hint={<CopyableId id={record.receiptId} what="receipt id of the proof" short />}
      bodyClassName="space-y-5"
    >
      <VerifyHere what="record" document={record} canForge />
      <FactGroup title="Signature" wide>
        <HashFact name="Record hash" hash={record.recordHash} />
        <HashFact name="Signed by" hash={record.signature.keyId} />
        <HashFact name="Signature" hash={record.signature.value} />
      </FactGroup>
      <FactGroup title="Sealed hashes" wide>
        <HashFact name="Request" hash={record.requestHash} />
        <HashFact name="Bytes sent" hash={record.sentHash} />
        <HashFact name="Instructions" hash={record.instructionsHash} />
        <HashFact name="Input" hash={record.inputHash} />
        <HashFact name="Tools" hash={record.toolsHash} />
        <HashFact name="Response format" hash={record.responseFormatHash} />
        <HashFact name="Output" hash={record.outputHash} />
        <HashFact name="Native response" hash={record.nativeResponseHash} />
      </FactGroup>
    </Section>
  );
}
