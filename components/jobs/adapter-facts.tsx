import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, FactGroup } from "@/components/ui/facts";
import type { ReceiptAdapter } from "@/server/contract/receipts";

/** The LoRA weights of an image: the requested name, and the version it resolved to when the job was admitted. */
export function AdapterFacts({ adapter }: { adapter: ReceiptAdapter }) {
  const { alias, aliasVersionNumber, aliasVersionId, source, triggerWords } = adapter;
  return (
    <FactGroup title={`Adapter: ${adapter.displayName}`}>
      <Fact name="Alias">
        {alias && `${alias}, version ${aliasVersionNumber}${adapter.byDefault ? ", by default" : ""}`}
      </Fact>
      <Fact name="Strength">{adapter.weight.toLocaleString("en-US")}</Fact>
      <Fact name="Trigger words">{triggerWords.join(", ") || null}</Fact>
      <Fact name="Adapter">
        <CopyableId id={adapter.adapterId} what="adapter id" />
      </Fact>
      <Fact name="Alias version">
        {aliasVersionId && <CopyableId id={aliasVersionId} what="alias version id" />}
      </Fact>
      <Fact name="Source">
        {[source.provider && `${source.provider}:`, source.ref, source.filePath].filter(Boolean).join(" ")}
      </Fact>
      <Fact name="Revision">{source.revision && <CopyableId id={source.revision} what="revision" />}</Fact>
      <Fact name="Digest">
        {adapter.sha256 && <CopyableId id={adapter.sha256} what="digest of the weights" />}
      </Fact>
    </FactGroup>
  );
}
