import { Fact, FactGroup, HashFact } from "@/components/ui/facts";
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
      <HashFact name="Adapter" hash={adapter.adapterId} />
      <HashFact name="Alias version" hash={aliasVersionId} />
      <Fact name="Source">
        {[source.provider && `${source.provider}:`, source.ref, source.filePath].filter(Boolean).join(" ")}
      </Fact>
      <HashFact name="Revision" hash={source.revision} />
      <HashFact name="Digest" hash={adapter.sha256} />
    </FactGroup>
  );
}
